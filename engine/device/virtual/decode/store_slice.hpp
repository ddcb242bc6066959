#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The slice of a program (Weiser, "Program slicing", 1981) that determines where the program
/// stores to global memory: the stores, the instructions that compute their addresses and guards,
/// and the branches on which these depend. The slice omits the computation of stored values. An
/// omitted branch is replaced by a jump to the point where its paths join.
///
/// Returns the reason as text if there is no slice, because an address or a branch depends on
/// shared memory, tensor cores, other CTAs, or a clock. The slice must run with
/// LaunchContext::owners set, so that stores are recorded and not executed. A load from memory that
/// kernels may write then ends the launch.
[[nodiscard]] std::variant<Program, std::string> slice_of_stores(const Program& program);

/// The slice that determines whether the `kept` instructions (one flag for each instruction of the
/// program) are executed, and with which operands.
[[nodiscard]] std::variant<Program, std::string> slice_of(const Program& program,
                                                          std::vector<bool> kept);

}  // namespace evo::ptx
