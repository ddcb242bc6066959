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

  /// Microseconds of one launch.
  virtual std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                                 std::span<const KernelArgument> arguments) = 0;
  /// The use of the units in the last prediction in percent, by Nsight Compute's names. Empty
  /// where the prediction does not say.
  [[nodiscard]] virtual std::map<std::string, double> predicted_profile() const { return {}; }
  /// Names what the last predicted time depends on and the model leaves out.
  [[nodiscard]] virtual std::string prediction_gaps() const { return {}; }
};

}  // namespace evo
