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

/// A launch whose time is to be predicted.
struct StepToPredict {
  const LoadedEntry& entry;
  const LaunchConfig& config;
  double footprint_bytes = 0;  ///< as in ExecutedLaunch
  double fresh_bytes = 0;
  double rotation_bytes = 0;
  bool is_last = true;  ///< nobody reads what it writes
  std::uint64_t seed = 1;
};

/// Which CTAs of an entry to execute, and what to note of them.
struct GridPart {
  std::vector<std::uint64_t> ctas;  ///< linear indices; empty: all
  bool is_slice = false;            ///< of which only the ways of its CTAs are wanted
};
using ExecutePart =
    std::function<std::variant<GridCounts, Fault>(const LoadedEntry& entry, GridPart part)>;

/// Executes as many of its CTAs as show what all of them do, and predicts its time: all where they
/// claim their work from memory or wait for each other, since a few would do the work of all, and
/// where a later step reads what it writes.
[[nodiscard]] std::variant<PredictedLaunch, Fault> predict_step(const DeviceModel& model,
                                                                const StepToPredict& step,
                                                                const ExecutePart& execute);

/// What the times of all steps may depend on beside what the model knows.
[[nodiscard]] std::string gaps_text(const std::vector<PredictedLaunch>& launches);

}  // namespace evo::ptx
