#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/device/virtual/timing/prediction.hpp"

namespace evo::ptx {

/// The utilisation of the units in the time model, in percent: the mean over the launches, weighted
/// by their times, under Nsight Compute's counter names. Empty if the times come from instruction
/// counts, which do not model units.
[[nodiscard]] std::map<std::string, double> predicted_profile(
    const std::vector<PredictedLaunch>& launches);

}  // namespace evo::ptx
