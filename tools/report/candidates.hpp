#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// Data about all candidates of a run, column by column:
///   "count"        the number of candidates
///   "columns"      for each property of candidates (time, registers, …), a list of values, null if
///                  it does not apply; a list of texts is {"words", "values"}: a value is the index
///                  of a word
///   "knobs"        for each macro, a list of its values in the form of texts
///   "best"         each improvement of the best time: [candidates so far, seconds so far, µs,
///                  candidate]
///   "generations"  for each generation, the number of candidates with each outcome
///   "occupancy"    the architecture whose SM limits determine the occupancy; null if unknown
[[nodiscard]] nlohmann::ordered_json candidates_of_run(const Store& store, const StoredRun& run);

/// Seconds between two times in the database's format, "2026-11-22T20:10:12.932Z". Throws DbError
/// for any other text.
[[nodiscard]] double seconds_between(const std::string& from, const std::string& to);

}  // namespace evo
