#pragma once

#include <cstdint>

#include "engine/evaluate/compilations.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/worker/session.hpp"

// The setup that devices, and the virtual GPU beside them, get before the first kernel.

namespace evo {

struct DeviceSetupOptions {
  std::uint64_t check_seed = 0;  ///< of the inputs; draw it fresh for every run
  bool flush_l2 = false;         ///< before every timed launch
  /// Candidates that a search will ask for: they are compiled meanwhile.
  std::vector<Candidate> opening = {};
};

/// Compiles the reference and the kernels that judge on the device, side by side, and puts the
/// setup of all devices together. Throws ProblemError where the reference cannot be run, and
/// NvrtcError where the check kernels do not build.
Task<SessionSetup> device_setup(const TuningTask& task, Compilations& compilations,
                                DeviceSetupOptions options);

/// The setup of a virtual GPU that executes kernels that are green on a GPU as well.
[[nodiscard]] SessionSetup interpreter_setup(const SessionSetup& setup);

/// Why even the smallest checked shape is too much work for an interpreter; empty where it is not.
[[nodiscard]] std::string too_much_to_interpret(const TuningTask& task);

/// Throws ProblemError when the problem would run a program on this machine.
void require_no_programs(const Problem& problem);

}  // namespace evo
