#pragma once

#include <cstdint>

#include "engine/evaluate/compilations.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/worker/session.hpp"

// The setup that each device, and the virtual GPU beside it, receives before the first kernel.

namespace evo {

struct DeviceSetupOptions {
  std::uint64_t check_seed = 0;  ///< seed of the inputs; draw a new one for every run
  bool flush_l2 = false;         ///< before every timed launch
  /// Candidates that the search will request; they are compiled meanwhile.
  std::vector<Candidate> opening = {};
};

/// Compiles the reference and the check kernels in parallel, and builds the setup of all devices.
/// Throws ProblemError if the reference cannot be run, and NvrtcError if the check kernels do not
/// compile.
Task<SessionSetup> device_setup(const TuningTask& task, Compilations& compilations,
                                DeviceSetupOptions options);

/// The setup of a virtual GPU that also executes kernels that are green on a GPU.
[[nodiscard]] SessionSetup interpreter_setup(const SessionSetup& setup);

/// Why even the smallest checked shape is too much work for an interpreter; empty if it is not.
[[nodiscard]] std::string too_much_to_interpret(const TuningTask& task);

/// Throws ProblemError if the problem would run a program on this machine.
void require_no_programs(const Problem& problem);

}  // namespace evo
