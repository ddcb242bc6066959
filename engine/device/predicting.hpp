#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>

#include "engine/core/launch_config.hpp"
#include "engine/device/device_kernel.hpp"

namespace evo {

/// Abilities of a device that predicts.
class Predicting {
 public:
  virtual ~Predicting() = default;

  /// Predicted microseconds of one launch.
  virtual std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                                 std::span<const KernelArgument> arguments) = 0;
  /// Utilisation of the units in the last prediction, in percent, under Nsight Compute's names.
  /// Empty if the prediction does not tell.
  [[nodiscard]] virtual std::map<std::string, double> predicted_profile() const { return {}; }
  /// Names the effects on the last predicted time that the model leaves out.
  [[nodiscard]] virtual std::string prediction_gaps() const { return {}; }
};

}  // namespace evo
