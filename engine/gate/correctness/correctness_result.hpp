#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// A function that is called with the name of the next operation, so that a hang can be attributed
/// to this operation.
using Progress = std::function<void(const std::string&)>;

/// The time of the launches that checked a kernel on one shape.
struct CheckedTime {
  std::string shape;
  double fastest_us = 0;  ///< time of the faster of the first two launches, or of the only launch
  /// whether the device was idle before the check; false for very long launches
  bool was_idle = false;
  /// The estimated time, if the check ended because this time is certainly above the shape's limit
  /// (EarlyStop).
  std::optional<Timing> too_slow = {};
};

/// The result of the correctness gate: the errors in all comparisons, and the rejection, if any.
struct CorrectnessResult {
  std::vector<CheckResult> checks;
  std::optional<Rejection> rejection = {};
  bool device_lost = false;             ///< true: the worker process must be replaced
  bool complete = true;                 ///< false: the check made fewer launches than a full check
  std::vector<CheckedTime> times = {};  ///< only for shapes that have a limit
  /// The kind of the fault, if loading the kernel, allocating its workspace or a launch failed;
  /// nullopt if a comparison rejected the kernel.
  std::optional<FaultKind> fault = {};

  /// Ends the check because of a fault. `place` names the shape and seed and ends with ": ".
  void reject(const std::string& place, const Fault& why) {
    rejection = Rejection{Gate::kCorrectness, place + why.reason, why.detail};
    device_lost = device_lost || why.device_lost;
    fault = why.kind;
  }
};

}  // namespace evo
