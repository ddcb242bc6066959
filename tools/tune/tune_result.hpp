#pragma once

#include <string>

#include "engine/run/tuner.hpp"
#include "tools/tune/run_report.hpp"
#include "tools/tune/tune_options.hpp"

namespace evo {

/// Reports the candidates that only the policy rejected and, with --time-policy-rejects, the time
/// that the policy costs. Returns the report as text.
[[nodiscard]] std::string report_policy(Workbench& bench, Store& store, RunId run,
                                        std::size_t shape, const TuneOptions& options,
                                        const TuneReport& report, const Elite& elite);

/// Prints the result for one shape. `policy`: a text from report_policy().
void print_result(const Store& store, RunId run, const TuneOptions& options,
                  const TuneReport& report, const RunProgress& progress, const Elite& elite_now,
                  const std::string& policy);

}  // namespace evo
