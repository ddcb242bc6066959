#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// Computes the slice of a program (Weiser, "Program slicing", 1981) that determines where the
/// program stores to global memory. The slice contains the stores, the instructions that compute
/// their addresses and guards, and the branches on which these instructions depend. The slice omits
/// the computation of stored values. A branch that the slice omits is replaced by a jump to the
/// point where the branch's paths join.
///
/// Returns the reason as text if the slice is impossible, for example because the kernel is
/// cooperative, has clusters or stores by cp.async.bulk, or because an address or a branch depends
/// on shared memory, tensor cores, other CTAs, or a clock. The slice must run with
/// LaunchContext::owners set, so that stores are recorded but not executed. If a slice loads from
/// memory that kernels may write, the launch ends with a hazard.
[[nodiscard]] std::variant<Program, std::string> slice_of_stores(const Program& program);

/// Computes the slice that determines whether the instructions in `kept` (one flag for each
/// instruction of the program) are executed, and with which operands. After each conditional branch
/// in `kept`, the slice has a no-op that is executed only if the branch is not taken. The count of
/// its executions shows the branch's direction.
[[nodiscard]] std::variant<Program, std::string> slice_of(const Program& program,
                                                          std::vector<bool> kept);

}  // namespace evo::ptx
