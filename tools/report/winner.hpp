#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// The kernel that won a run, and the data for comparison:
///   "winner"      the winner's times, resources, configuration; null if no kernel is green
///   "elite"       the rows of evo-elite
///   "default"     the space's default configuration: its candidate and time, or why it has none
///   "baseline"    the first green milestone; null if there is none
///   "vendor"      the fastest stored time of another implementation; null if there is none
///   "changes"     the macros in which the winner differs from the default
///   "checks"      the winner's comparisons with the reference; "tolerance": the allowed errors
///   "source", "difference" (from the default's source), "manifest": the winner's, null if missing
[[nodiscard]] nlohmann::ordered_json winner_of_run(const Store& store, const StoredRun& run);

}  // namespace evo
