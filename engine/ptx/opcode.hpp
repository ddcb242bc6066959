#pragma once

#include <cstdint>
#include <string_view>

namespace evo::ptx {

/// The opcode of an instruction, such as "ld" for "ld.global.f32".
enum class Opcode : std::uint8_t {
  kOther,  ///< an opcode that is not in opcode.def
#define EVO_OPCODE(name, spelling) k##name,
#include "engine/ptx/opcode.def"
#undef EVO_OPCODE
};

/// The opcode that is spelled `name` ("ld", without modifiers); kOther for an unknown spelling.
[[nodiscard]] Opcode opcode_from_name(std::string_view name);

}  // namespace evo::ptx
