#pragma once

#include <optional>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

/// The reasons why the CTAs of a launch may take different directions at the branches of a program.
struct BranchOrigins {
  /// One flag for each instruction, which is true for a branch (or guarded exit) that depends only
  /// on the CTA's index and on loaded data that a slice of the program (store_slice.hpp) can
  /// compute.
  std::vector<bool> by_place;
  /// True if a loop, or a large part of the code, depends on values that no slice of the program
  /// (store_slice.hpp) can compute, such as data from shared memory or from memory that the launch
  /// writes, results of tensor cores or atomics, and clocks. Loops that only wait for an mbarrier
  /// do not count.
  bool by_data = false;
};

/// Determines the BranchOrigins by a forward data-flow analysis that includes control dependence.
/// `loads_are_known`: true if the launch does not write memory that it reads. Nullopt if the
/// program is too large.
[[nodiscard]] std::optional<BranchOrigins> find_branch_origins(const Program& program,
                                                               bool loads_are_known);

}  // namespace evo::ptx
