#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/device/virtual/timing/prediction.hpp"

namespace evo::ptx {

/// How busy the time model says that the units were, in percent, mean over the launches by their
/// times; by the names that Nsight Compute has for the counters of a card. Empty when the times
/// come from counts of instructions, which know no units.
[[nodiscard]] std::map<std::string, double> predicted_profile(
    const std::vector<PredictedLaunch>& launches);

}  // namespace evo::ptx
