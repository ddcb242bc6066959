#pragma once

#include "engine/run/run_setup.hpp"
#include "tools/tune/run_report.hpp"
#include "tools/tune/tune_options.hpp"

namespace evo {

/// Runs a search of evo-tune, from its first generation to the printed result: the measurements of
/// the elite, and the reasons why the winners won. Sets the state of the runs in the database.
/// Returns false if the user interrupts the search.
[[nodiscard]] bool search_and_report(Workbench& bench, Store& store, OpenRun open,
                                     TuneReport& report, const TuneOptions& options);

}  // namespace evo
