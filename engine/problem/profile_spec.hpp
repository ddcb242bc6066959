#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/core/expression.hpp"

namespace evo {

/// What the profile gate asks of a kernel: metrics of a profiler by names of the problem's, and an
/// expression over these that must be true.
struct ProfileSpec {
  std::vector<std::pair<std::string, std::string>> metrics;  ///< name, Nsight Compute's metric
  Expression require;
};

}  // namespace evo
