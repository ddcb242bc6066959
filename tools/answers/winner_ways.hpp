#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// A time in µs for each configuration on a path (a sequence of macro changes that ends at the
/// winner), the start first: winner_us divided by the ratios of all later steps. A step's ratio is
/// the time after the step / the time before it.
[[nodiscard]] std::vector<double> levels_of(const WinnerWay& way, double winner_us);

/// Whether the path changes any macro; false if it starts at the winner.
[[nodiscard]] bool has_steps(const WinnerWay& way);

/// How the steps of a path were timed, as text: "A/B pairs", "PREDICTED times", or a mention of
/// both A/B pairs and separate measurements if some steps that change the time have no A/B pairs,
/// for example because the time limit was reached.
[[nodiscard]] std::string how_timed(const WinnerWay& way, TimeKind kind);

/// The paths to the run's winner as readable lines, or the reason if no path is stored; empty if
/// the run has no winner.
[[nodiscard]] std::string ways_text(const Store& store, const StoredRun& run);

/// The paths as JSON; "why_no_ways" is null if there are paths or if the run has no winner:
/// {"ways": [{"start", "winner", "timed", "steps": [{"changes", "level_us", …}]}],
///  "why_no_ways": text or null}.
[[nodiscard]] nlohmann::ordered_json ways_json(const Store& store, const StoredRun& run);

}  // namespace evo
