#pragma once

#include <string>
#include <vector>

#include "tools/doctor/machine.hpp"

namespace evo {

/// A missing part of a machine, or an obstacle (a full disk); what it prevents; and the remedy.
struct Finding {
  std::string what;        ///< "ncu is not on the PATH"
  std::string prevents;    ///< "--profile"
  std::string step;        ///< a command, or an instruction
  bool stops_run = false;  ///< a run without options fails because of this finding
};

/// Returns the findings; those that stop a run without options come first.
[[nodiscard]] std::vector<Finding> findings_of(const Machine& machine);

/// Whether a run without options would work: true if no finding stops it.
[[nodiscard]] bool run_would_work(const std::vector<Finding>& findings);

/// Why the driver cannot load NVRTC's code for the device of a run without options; empty if the
/// driver can load the code, or if driver or NVRTC is missing.
[[nodiscard]] std::string misfit_of(const Machine& machine);

}  // namespace evo
