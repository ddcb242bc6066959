#pragma once

#include <string>
#include <vector>

#include "tools/doctor/machine.hpp"

namespace evo {

/// Something that is missing on a machine, for what, and what mends it.
struct Finding {
  std::string what;        ///< "ncu is not on the PATH"
  std::string prevents;    ///< "--profile"
  std::string step;        ///< a command, or what to do
  bool stops_run = false;  ///< a default run does not work
};

/// Those that stop a default run come first.
[[nodiscard]] std::vector<Finding> findings_of(const Machine& machine);

/// Whether a default run would work: none of these stops it.
[[nodiscard]] bool run_would_work(const std::vector<Finding>& findings);

/// Why the driver refuses what NVRTC makes for the device that a default run opens; empty where
/// both fit, or one of them is not there.
[[nodiscard]] std::string misfit_of(const Machine& machine);

}  // namespace evo
