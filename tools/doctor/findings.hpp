#pragma once

#include <string>
#include <vector>

#include "tools/doctor/machine.hpp"

namespace evo {

/// A missing part of a machine, the feature that needs it, and the remedy.
struct Finding {
  std::string what;        ///< "ncu is not on the PATH"
  std::string prevents;    ///< "--profile"
  std::string step;        ///< a command, or an instruction
  bool stops_run = false;  ///< a default run fails without it
};

/// Findings that stop a default run come first.
[[nodiscard]] std::vector<Finding> findings_of(const Machine& machine);

/// Whether a default run would work: none of the findings stops it.
[[nodiscard]] bool run_would_work(const std::vector<Finding>& findings);

/// Why the driver cannot load NVRTC's code for the device of a default run; empty if it can, or if
/// one of them is missing.
[[nodiscard]] std::string misfit_of(const Machine& machine);

}  // namespace evo
