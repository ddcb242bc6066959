#include "tools/doctor/machine.hpp"

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "engine/core/system_root.hpp"
#include "engine/run/ncu.hpp"
#include "engine/worker/limits.hpp"
#include "engine/worker/process.hpp"
#include "tools/cli/full_version.hpp"
#include "tools/tune/session_options.hpp"

namespace evo {
namespace {

DefaultRun default_run(const DeviceInfo* device) {
  const SessionOptions options;
  DefaultRun run;
  run.compilers = options.job_count();
  run.compiler_bytes = compiler_memory_bytes(run.compilers);
  if (device == nullptr) return run;
  try {
    run.space = options.space_file(device->arch);
  } catch (const std::exception& error) {
    run.no_space = error.what();
  }
  return run;
}

/// Lets evo-worker examine driver, NVML and NVRTC, whose state is unknown if evo-worker is missing.
MachineSurvey survey() {
  try {
    return survey_machine(worker_program(), "auto");
  } catch (const MissingError& error) {
    MachineSurvey nothing;
    nothing.nvml.failure = nothing.cuda.failure = nothing.nvrtc.failure = error.what();
    nothing.device = OpenFailure{error.what()};
    return nothing;
  }
}

}  // namespace

Machine examine_machine() {
  Machine machine;
  machine.version = full_version();
  machine.host = read_host_facts(system_root());
  machine.files = device_files(system_root());
  machine.visible = environment_variable("CUDA_VISIBLE_DEVICES").value_or("");
  machine.survey = survey();
  machine.ncu_path = ncu_path();
  try {
    if (!machine.ncu_path.empty()) machine.ncu_version = ncu_version();
  } catch (const std::exception& error) {
    machine.ncu_failure = error.what();
  }
  machine.run = default_run(machine.device());
  return machine;
}

}  // namespace evo
