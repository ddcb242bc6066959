#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/device/virtual/timing/prediction.hpp"

namespace evo::ptx {

/// The utilisation in percent of the GPU's units in the time model, by Nsight Compute's counter
/// names. The utilisations are means over the launches, weighted by the times of the launches.
/// The map is empty if a time was predicted from instruction counts, without a simulation of units.
[[nodiscard]] std::map<std::string, double> predicted_profile(
    const std::vector<PredictedLaunch>& launches);

}  // namespace evo::ptx
