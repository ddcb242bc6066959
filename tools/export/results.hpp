#pragma once

#include <string>
#include <string_view>

#include "db/store.hpp"
#include "tools/cli/output_files.hpp"

namespace evo {

/// The judged configurations of a run, for other auto-tuners and analysis tools. Times are in
/// milliseconds. If times are predicted, the file says so in the objective and in the environment.
struct RunResults {
  std::string text;
  int configurations = 0;
  int not_judged = 0;  ///< built but not run, for example without a device
};

/// The results of a run in the T4 format. "invalidity" names the gate that a configuration failed:
/// build "compile", correctness "correctness", any other gate "runtime". The additional key
/// "evo_tune" holds the reason of a failure, the candidate's origin, and its kernel's resources.
[[nodiscard]] RunResults t4_results(const Store& store, const StoredRun& run);

/// The results of a run as a Kernel Tuner cache file. Instead of a time, a failed configuration has
/// a name for the gate that it failed: build "CompilationFailedConfig", resources "InvalidConfig",
/// any other gate "RuntimeFailedConfig".
[[nodiscard]] RunResults kernel_tuner_cache(const Store& store, const StoredRun& run);

/// Writes a file by write_outputs(), compressed by gzip if the name ends with .gz. Throws
/// InputError.
void write_results(const std::string& file, const RunResults& results, std::string_view writer);

/// Throws InputError if the file of `option` and that of --kernel-tuner-cache, `cache`, are the
/// same. An empty text stands for no file.
void require_two_files(const std::string& option, const std::string& file,
                       const std::string& cache);

/// Rules that allow `writer` to replace a results file of any program of evo-tune.
[[nodiscard]] OutputOwner results_owner(std::string_view writer);

}  // namespace evo
