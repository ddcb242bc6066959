#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// Every candidate of a run, column by column:
///   "columns"      one list a figure, null where it does not apply; texts are {"words", "values"},
///                  where a value is the index of a word
///   "knobs"        the same for each macro
///   "best"         whenever the best time fell: [candidates so far, seconds so far, µs, candidate]
///   "generations"  how many of each came to which end
///   "occupancy"    whose limits of an SM the occupancy is by; null where they are unknown
[[nodiscard]] nlohmann::ordered_json candidates_of_run(const Store& store, const StoredRun& run);

/// Seconds between two times as the database has them, "2026-11-22T20:10:12.932Z". Throws DbError
/// for any other text.
[[nodiscard]] double seconds_between(const std::string& from, const std::string& to);

}  // namespace evo
