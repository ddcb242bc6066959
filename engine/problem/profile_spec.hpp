#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/core/expression.hpp"

namespace evo {

/// The condition of the profile gate: an expression over Nsight Compute metrics that must be true.
/// The problem chooses a short name for each metric.
struct ProfileSpec {
  /// pairs: the short name, and the name of the metric in Nsight Compute
  std::vector<std::pair<std::string, std::string>> metrics;
  Expression require;
};

}  // namespace evo
