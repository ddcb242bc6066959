#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// All data that the report shows about one run; docs/report.md lists the entries. Missing data are
/// null or empty, and the report then gives the reason. Throws DbError for damaged rows.
[[nodiscard]] nlohmann::ordered_json report_of_run(const Store& store, const StoredRun& run);

/// The command line that repeats the run.
[[nodiscard]] std::string command_of(const StoredRun& run);

}  // namespace evo
