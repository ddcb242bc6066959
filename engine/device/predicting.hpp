#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>

#include "engine/core/launch_config.hpp"
#include "engine/device/device_kernel.hpp"

namespace evo {

/// What a device that predicts can do beside.
class Predicting {
 public:
  virtual ~Predicting() = default;

  /// Microseconds of one launch.
  virtual std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                                 std::span<const KernelArgument> arguments) = 0;
  /// Of the last prediction: how busy the units are in percent, by Nsight Compute's names. Empty
  /// where the prediction does not say.
  [[nodiscard]] virtual std::map<std::string, double> predicted_profile() const { return {}; }
  /// Names what the last predicted time depends on and the model leaves out.
  [[nodiscard]] virtual std::string prediction_gaps() const { return {}; }
};

}  // namespace evo
