#pragma once

#include <string>
#include <string_view>

#include "db/store.hpp"
#include "tools/cli/output_files.hpp"

namespace evo {

/// All that a run evaluated, for other auto-tuners and their analysis. Times are milliseconds. A
/// predicted time is never called a time: its objective, its measurement and the file's environment
/// say "predicted".
struct RunResults {
  std::string text;
  int configurations = 0;
  int not_judged = 0;  ///< built, but not run: without a device, or a shortlist left them out
};

/// As T4 results. "invalidity" says at which gate a configuration failed: build "compile", resource
/// and timing "runtime", correctness "correctness". "evo_tune" beside it says why, where the
/// candidate comes from, and what its kernel takes.
[[nodiscard]] RunResults t4_results(const Store& store, const StoredRun& run);

/// As a cache file of Kernel Tuner. In place of a time stands what failed: build
/// "CompilationFailedConfig", resource "InvalidConfig", correctness and timing
/// "RuntimeFailedConfig".
[[nodiscard]] RunResults kernel_tuner_cache(const Store& store, const StoredRun& run);

/// As write_outputs() does; packed by gzip where the name ends with .gz. Throws InputError.
void write_results(const std::string& file, const RunResults& results, std::string_view writer);

/// Whose files of results may be replaced: those of any of our tools.
[[nodiscard]] OutputOwner results_owner(std::string_view writer);

}  // namespace evo
