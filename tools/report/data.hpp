#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// All that the report shows of one run, as plain data: docs/report.md lists its entries. What the
/// run lacks is null or empty; the page says so in words. Throws DbError for damaged rows.
[[nodiscard]] nlohmann::ordered_json report_of_run(const Store& store, const StoredRun& run);

/// The command line that makes the run again.
[[nodiscard]] std::string command_of(const StoredRun& run);

}  // namespace evo
