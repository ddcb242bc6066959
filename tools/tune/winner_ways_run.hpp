#pragma once

#include <optional>
#include <string>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "tools/tune/run_report.hpp"

namespace evo {

/// The time in seconds for measuring the paths to the winners of a run. A path is a sequence of
/// macro changes. `option`: the value of --explain, "auto", "none" or a number of seconds.
/// `elapsed_s`: the duration of the search, from which "auto" derives the time. Returns nullopt for
/// "none". Throws InputError if `option` has none of these forms.
[[nodiscard]] std::optional<double> explain_seconds(const std::string& option, double elapsed_s);

/// The duration of a run's generations in seconds, including generations before the run was
/// resumed.
[[nodiscard]] double seconds_of_run(const Store& store, RunId run);

/// The run of a shape, and the time in seconds for explaining the run's winner.
struct ExplainedRun {
  RunId run = 0;
  std::size_t shape = 0;
  double seconds = 0;
};

/// Measures the paths to the winner from the default configuration and from the first green
/// milestone. Does nothing if there is no winner or no device. Stores the paths and prints the
/// number of their steps; if there is no path, stores the reason. If the user interrupts the
/// measurement, stores this as the reason and returns false.
[[nodiscard]] bool explain_winner(Workbench& bench, Store& store, const Elite& elite,
                                  const ExplainedRun& explained, const TuneReport& report);

}  // namespace evo
