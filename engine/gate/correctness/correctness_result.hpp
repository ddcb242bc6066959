#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// Told what is about to run, so that a hang has a name.
using Progress = std::function<void(const std::string&)>;

/// The time of the launches that checked a kernel on one shape.
struct CheckedTime {
  std::string shape;
  double fastest_us = 0;  ///< of the first two launches, or of the only one
  bool was_idle = false;  ///< the device, before the check
  /// Where it is surely above the limit. The check ended with it.
  std::optional<Timing> too_slow = {};
};

/// What the correctness gate found: the figures of every comparison made, and why it stopped.
struct CorrectnessResult {
  std::vector<CheckResult> checks;
  std::optional<Rejection> rejection = {};
  bool device_lost = false;  ///< the process must be replaced
  bool complete = true;      ///< false: a screening left out seeds or a repeat on some shape
  std::vector<CheckedTime> times = {};  ///< of the shapes that have a limit
  /// Set where a launch or the loading failed; a rejection without it comes from a comparison.
  std::optional<FaultKind> fault = {};

  /// Ends the check because of a fault. `place` says on which shape and seed, and ends with ": ".
  void reject(const std::string& place, const Fault& why) {
    rejection = Rejection{Gate::kCorrectness, place + why.reason, why.detail};
    device_lost = device_lost || why.device_lost;
    fault = why.kind;
  }
};

}  // namespace evo
