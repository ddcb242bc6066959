#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// Times along the path that are consistent with its ratios and end at the winner's time: winner_us
/// divided by the ratios of all later steps. One for each step, the start first.
[[nodiscard]] std::vector<double> levels_of(const WinnerWay& way, double winner_us);

/// False if the start is the winner.
[[nodiscard]] bool has_steps(const WinnerWay& way);

/// "A/B pairs", "predicted times", or both if the time did not suffice for all pairs.
[[nodiscard]] std::string how_timed(const WinnerWay& way, TimeKind kind);

/// Readable text of several lines; says that nothing was measured if a run has no paths.
[[nodiscard]] std::string ways_text(const Store& store, const StoredRun& run);

/// {"ways": [{"start", "winner", "timed", "steps": [{"changes", "level_us", …}]}],
///  "why_no_ways": text or null}.
[[nodiscard]] nlohmann::ordered_json ways_json(const Store& store, const StoredRun& run);

}  // namespace evo
