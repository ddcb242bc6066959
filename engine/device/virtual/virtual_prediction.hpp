#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/device/virtual/timing/prediction.hpp"
#include "engine/device/virtual/virtual_kernel.hpp"

namespace evo::ptx {

/// A step of a launch, whose time is to be predicted.
struct StepToPredict {
  const LoadedEntry& entry;
  const LaunchConfig& config;
  double footprint_bytes = 0;  ///< see ExecutedLaunch
  double fresh_bytes = 0;
  double rotation_bytes = 0;
  bool is_last = true;  ///< the last step of the launch, so no later step reads its results
  std::uint64_t seed = 1;
};

/// The CTAs of a kernel that are to be executed.
struct GridPart {
  std::vector<std::uint64_t> ctas;  ///< linear indices; empty: all
  /// true: the kernel is a slice (store_slice.hpp), whose execution only records the paths of its
  /// CTAs
  bool is_slice = false;
};
using ExecutePart =
    std::function<std::variant<GridCounts, Fault>(const LoadedEntry& entry, GridPart part)>;

/// Executes a sample of CTAs that represents the grid, and predicts the time of the step. Executes
/// all CTAs if the step is not the last, or if CTAs claim work from memory or wait for each other:
/// a sample would do the work of all CTAs, or wait for ever.
[[nodiscard]] std::variant<PredictedLaunch, Fault> predict_step(const DeviceModel& model,
                                                                const StepToPredict& step,
                                                                const ExecutePart& execute);

/// Lists, as text, the effects on the times of launches that the time model ignores.
[[nodiscard]] std::string gaps_text(const std::vector<PredictedLaunch>& launches);

}  // namespace evo::ptx
