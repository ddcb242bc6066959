#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// A time for each step of a path, the start first: winner_us divided by the ratios of all later
/// steps. The returned times agree with the ratios of the steps and end at the winner's time.
[[nodiscard]] std::vector<double> levels_of(const WinnerWay& way, double winner_us);

/// Whether the path has steps; false if its start is the winner.
[[nodiscard]] bool has_steps(const WinnerWay& way);

/// How the steps were timed: "A/B pairs", "predicted times", or a mixture if the time was too short
/// to compare all steps by pairs.
[[nodiscard]] std::string how_timed(const WinnerWay& way, TimeKind kind);

/// The paths as readable lines. If the run has no paths, the text gives the reason.
[[nodiscard]] std::string ways_text(const Store& store, const StoredRun& run);

/// {"ways": [{"start", "winner", "timed", "steps": [{"changes", "level_us", …}]}],
///  "why_no_ways": text or null}.
[[nodiscard]] nlohmann::ordered_json ways_json(const Store& store, const StoredRun& run);

}  // namespace evo
