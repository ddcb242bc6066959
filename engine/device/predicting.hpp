#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>

#include "engine/core/launch_config.hpp"
#include "engine/device/device_kernel.hpp"

namespace evo {

/// The interface of a device that predicts times, which is a virtual GPU.
class Predicting {
 public:
  virtual ~Predicting() = default;

  /// Predicted microseconds of one launch.
  virtual std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                                 std::span<const KernelArgument> arguments) = 0;
  /// Utilisation of the GPU's units in the last prediction, in percent, by Nsight Compute's metric
  /// names. Empty if the time was predicted from instruction counts, without a simulation of the
  /// units.
  [[nodiscard]] virtual std::map<std::string, double> predicted_profile() const { return {}; }
  /// The effects that the time model neglected in the last prediction, as text.
  [[nodiscard]] virtual std::string prediction_gaps() const { return {}; }
};

}  // namespace evo
