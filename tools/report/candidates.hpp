#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// Every candidate of a run, column by column:
///   "columns"      one list per figure, null if inapplicable; texts are {"words", "values"}, where
///                  a value is the index of a word
///   "knobs"        the same for each macro
///   "best"         each improvement of the best time: [candidates so far, seconds so far, µs,
///                  candidate]
///   "generations"  numbers of candidates by outcome, for each generation
///   "occupancy"    the SM limits used for the occupancy; null if unknown
[[nodiscard]] nlohmann::ordered_json candidates_of_run(const Store& store, const StoredRun& run);

/// Seconds between two times in the database's format, "2026-11-22T20:10:12.932Z". Throws DbError
/// for any other text.
[[nodiscard]] double seconds_between(const std::string& from, const std::string& to);

}  // namespace evo
