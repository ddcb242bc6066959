#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// Data about the GPU in a run: "gpu" (clocks, temperature, power and other processes during the
/// timings), "energy" (per launch) and "profiles" (metrics and the condition on the metrics). The
/// entries are lists with a row for each candidate that has such data; duplicates have no row.
[[nodiscard]] nlohmann::ordered_json gpu_of_run(const Store& store, const StoredRun& run);

}  // namespace evo
