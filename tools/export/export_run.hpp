#pragma once

#include <string>

#include "engine/core/error.hpp"
#include "tools/export/source.hpp"

namespace evo {

/// The output of evo-export for one run: a kernel, all results, or both.
struct RunExportOptions {
  int rank = 1;
  std::string out;  ///< folder for the kernel
  std::string t4;   ///< files for all results; empty: not requested
  std::string kernel_tuner_cache;
};

/// Warns on standard error if a candidate may have passed only a quick check (a shortened check).
void note_only_quick_check(const Store& store, CandidateId candidate);

/// Writes the requested files and prints their names. Returns kNothingGreen if no run or no green
/// kernel matches.
/// Throws InputError or DbError.
[[nodiscard]] ExitCode export_run(const ExportSource& source, const RunExportOptions& options);

}  // namespace evo
