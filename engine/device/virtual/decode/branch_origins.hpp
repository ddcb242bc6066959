#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The inputs on which the branches of a program depend and in which CTAs may differ.
struct BranchOrigins {
  /// One flag for each instruction: true for a branch (or guarded exit) that depends on the CTA's
  /// index, or on loaded data that a slice (store_slice.hpp) can compute.
  std::vector<bool> by_place;
  /// True if a loop, or much code, depends on values that no slice can compute: shared memory,
  /// tensor cores, atomics or clocks. A loop that waits for an mbarrier does not set by_data.
  bool by_data = false;
};

/// Finds the origins by a forward data-flow analysis with control dependence. `loads_are_known`:
/// the launch does not write memory that it reads. Nullopt if the program is too large.
[[nodiscard]] std::optional<BranchOrigins> find_branch_origins(const Program& program,
                                                               bool loads_are_known);

}  // namespace evo::ptx
