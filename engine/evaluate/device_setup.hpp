#pragma once

#include <cstdint>

#include "engine/evaluate/compilations.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/worker/session.hpp"

// The setup that each device receives before the first kernel. A virtual GPU that checks the
// kernels that are green on a GPU receives a setup, too.

namespace evo {

struct DeviceSetupOptions {
  std::uint64_t check_seed = 0;  ///< seed of the inputs; draw a new one for every run
  bool flush_l2 = false;         ///< flushes the L2 cache before every timed launch
  /// The first candidates of the search, which are compiled already during the setup.
  std::vector<Candidate> initial_population = {};
};

/// Compiles the reference and the check kernels in parallel, and returns the setup for all devices.
/// Throws ProblemError if the reference cannot run, and NvrtcError if the check kernels do not
/// compile.
Task<SessionSetup> device_setup(const TuningTask& task, Compilations& compilations,
                                DeviceSetupOptions options);

/// Converts the setup for a GPU to the setup for a virtual GPU that executes the kernels that are
/// green on the GPU.
[[nodiscard]] SessionSetup interpreter_setup(const SessionSetup& setup);

/// Says why even the smallest checked shape is too much work for a virtual GPU; empty if its work
/// is small enough.
[[nodiscard]] std::string too_much_to_interpret(const TuningTask& task);

/// Throws ProblemError if the problem has a check program or a reference program, because programs
/// run on the host with the user's rights.
void require_no_programs(const Problem& problem);

}  // namespace evo
