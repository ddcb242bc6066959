#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// What is known of the card in a run: "card" (clocks, temperature, power and other processes while
/// a candidate was timed), "energy" (of a launch) and "profiles" (counters, and what they had to
/// fulfil); lists of rows, empty where nothing is stored.
[[nodiscard]] nlohmann::ordered_json card_of_run(const Store& store, const StoredRun& run);

}  // namespace evo
