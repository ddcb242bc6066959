#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "engine/predict/issue_step.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo {

/// A sub-core of an SM in the simulation: its warps, its issue slot and its units. Times are in
/// clocks.
struct SubCore {
  std::vector<std::size_t> warps;
  std::array<double, static_cast<std::size_t>(Unit::kCount)> free{};  ///< when each unit is free
  double next = 0;                                                    ///< end of the last issue
  double mma_free = 0;    ///< when the last mma.sync has read its operands
  std::size_t last = 0;   ///< warp that issued last
  double candidate = -1;  ///< when the chosen warp can issue; -1: unknown
  std::size_t chosen = 0;

  /// The register file has few ports, so an mma.sync and other instructions delay each other.
  void share_registers(const MachineRates& rates, const IssueStep& step, double at) {
    double& tensor = free[static_cast<std::size_t>(Unit::kTensor)];
    double& transform = free[static_cast<std::size_t>(Unit::kTransform)];
    if (step.unit == Unit::kTensor) {
      mma_free = at + step.occupies;
      if (transform > at) transform += rates.tensor_transforms;
    } else if (mma_free > at) {
      mma_free += rates.tensor_shares;
      tensor = std::max(tensor, mma_free);
    }
  }
};

}  // namespace evo
