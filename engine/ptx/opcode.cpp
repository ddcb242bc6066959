#include "engine/ptx/opcode.hpp"

#include <algorithm>
#include <array>

namespace evo::ptx {
namespace {

struct OpcodeName {
  std::string_view spelling;
  Opcode opcode;
};

constexpr auto kOpcodes = std::to_array<OpcodeName>({
#define EVO_OPCODE(name, spelling) {spelling, Opcode::k##name},
#include "engine/ptx/opcode.def"
#undef EVO_OPCODE
});
static_assert(std::ranges::is_sorted(kOpcodes, {}, &OpcodeName::spelling));

}  // namespace

Opcode opcode_from_name(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kOpcodes, name, {}, &OpcodeName::spelling);
  return found != kOpcodes.end() && found->spelling == name ? found->opcode : Opcode::kOther;
}

}  // namespace evo::ptx
