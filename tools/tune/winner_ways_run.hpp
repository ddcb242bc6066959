#pragma once

#include <optional>
#include <string>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner.hpp"
#include "tools/tune/run_report.hpp"

namespace evo {

/// How long the ways to the winners of a run may be timed. `option`: "auto", "none" or a number of
/// seconds. Nothing for "none". Throws InputError for another text.
[[nodiscard]] std::optional<double> explain_seconds(const std::string& option, double elapsed_s);

/// What the generations of a run took, also those before it was resumed.
[[nodiscard]] double seconds_of_run(const Store& store, RunId run);

/// The run of a shape, and what it may take to explain its winner.
struct ExplainedRun {
  RunId run = 0;
  std::size_t shape = 0;
  double seconds = 0;
};

/// Times the ways from the default configuration, and from the first green milestone, to the
/// winner, stores and tells them; where that cannot be done, stores why. False when it was
/// interrupted: then nothing is stored.
[[nodiscard]] bool explain_winner(Workbench& bench, Store& store, const Elite& elite,
                                  const ExplainedRun& explained, const TuneReport& report);

}  // namespace evo
