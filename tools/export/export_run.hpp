#pragma once

#include <string>

#include "engine/core/error.hpp"
#include "tools/export/source.hpp"

namespace evo {

/// The parts of one run that evo-export writes: a kernel, all results, or both.
struct RunExportOptions {
  int rank = 1;
  std::string out;  ///< folder for the kernel
  std::string t4;   ///< files for all results; empty: not wanted
  std::string kernel_tuner_cache;
};

/// Says on standard error where a candidate may have been screened only.
void note_screened_only(const Store& store, CandidateId candidate);

/// Writes what is asked for and prints the names of its files. kNothingGreen: there is nothing that
/// fits. Throws InputError or DbError.
[[nodiscard]] ExitCode export_run(const ExportSource& source, const RunExportOptions& options);

}  // namespace evo
