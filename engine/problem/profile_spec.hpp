#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/core/expression.hpp"

namespace evo {

/// The conditions of the profile gate: metrics of a profiler under names of the problem's choice,
/// and an expression over them that must be true.
struct ProfileSpec {
  /// the problem's name → Nsight Compute's metric
  std::vector<std::pair<std::string, std::string>> metrics;
  Expression require;
};

}  // namespace evo
