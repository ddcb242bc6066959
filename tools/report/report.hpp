#pragma once

#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/core/error.hpp"

namespace evo {

struct ReportOptions {
  std::string db = "evo.db";
  std::vector<RunId> runs;  ///< empty: the newest run with a green kernel, else the newest
  std::string out;
};

/// Writes the report, an HTML page, and prints its file's name. Returns kNothingGreen if the report
/// was written but a run has no winner.
[[nodiscard]] ExitCode report(const ReportOptions& options);

}  // namespace evo
