#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// What decides the branches of a program, where CTAs may differ in it.
struct BranchOrigins {
  /// One for each instruction: a branch (or guarded exit) that the CTA's place in the grid decides,
  /// or memory that is read, as far as a slice can compute that.
  std::vector<bool> by_place;
  /// A loop, or much code, depends on what no slice computes: on shared memory, tensor cores,
  /// atomics or clocks. What waits for an mbarrier does not count.
  bool by_data = false;
};

/// By a forward data-flow analysis with control dependence. `loads_are_known`: memory that is read
/// is not written by the launch. Nothing for a program that is too large.
[[nodiscard]] std::optional<BranchOrigins> find_branch_origins(const Program& program,
                                                               bool loads_are_known);

}  // namespace evo::ptx
