#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

/// Told what is about to run, so that a hang has a name.
using Progress = std::function<void(const std::string&)>;

/// What the correctness gate found: the figures of every comparison made, and why it stopped.
struct CorrectnessResult {
  std::vector<CheckResult> checks;
  std::optional<Rejection> rejection = {};
  bool device_lost = false;  ///< the process must be replaced
  bool complete = true;      ///< false: a screening left out seeds or a repeat on some shape
};

}  // namespace evo
