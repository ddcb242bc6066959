#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/core/expression.hpp"

namespace evo {

/// The condition of the profile gate: an expression over Nsight Compute metrics that must be true.
/// The problem chooses a short name for each metric.
struct ProfileSpec {
  /// the problem's name → Nsight Compute's metric
  std::vector<std::pair<std::string, std::string>> metrics;
  Expression require;
};

}  // namespace evo
