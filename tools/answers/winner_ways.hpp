#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// Times on the way that agree with its ratios and end at the winner's own: winner_us divided by
/// the ratios of the steps that follow. One for each step, the start first.
[[nodiscard]] std::vector<double> levels_of(const WinnerWay& way, double winner_us);

/// False where the start is the winner.
[[nodiscard]] bool has_steps(const WinnerWay& way);

/// "A/B pairs", "predicted times", or both where the time for pairs was over.
[[nodiscard]] std::string how_timed(const WinnerWay& way, TimeKind kind);

/// Several lines for people; says that nothing was measured where a run has no ways.
[[nodiscard]] std::string ways_text(const Store& store, const StoredRun& run);

/// {"ways": [{"start", "winner", "timed", "steps": [{"changes", "level_us", …}]}],
///  "why_no_ways": text or null}.
[[nodiscard]] nlohmann::ordered_json ways_json(const Store& store, const StoredRun& run);

}  // namespace evo
