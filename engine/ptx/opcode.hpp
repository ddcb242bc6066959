#pragma once

#include <cstdint>
#include <string_view>

namespace evo::ptx {

/// The operation of an instruction: the word before the first dot of its spelling.
enum class Opcode : std::uint8_t {
  kOther,  ///< an opcode that is not in opcode.def
#define EVO_OPCODE(name, spelling) k##name,
#include "engine/ptx/opcode.def"
#undef EVO_OPCODE
};

/// The opcode of a spelling without its modifiers ("ld").
[[nodiscard]] Opcode opcode_from_name(std::string_view name);

}  // namespace evo::ptx
