#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// True if the operands of an instruction have one of the types `Families`.
template <typename... Families>
bool is_any(const Instr& in) {
  return (std::holds_alternative<Families>(in.operands) || ...);
}

/// The instructions that may follow instruction `pc`.
[[nodiscard]] std::vector<std::uint32_t> successors(const Program& program, std::size_t pc);

/// Runs a data-flow analysis: calls `visit(pc)` for the first instruction and, whenever `visit(pc)`
/// returns true, for the successors of pc. `visit` must return true if it changed a state on which
/// visits of the successors depend. The analysis ends when no call is left.
void visit_until_stable(const Program& program, const std::function<bool(std::uint32_t)>& visit);

}  // namespace evo::ptx
