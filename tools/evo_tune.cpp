// evo-tune: evolves the macros of a kernel template to find the fastest correct kernel.

#include <algorithm>

#include "engine/evolve/max_in_flight.hpp"
#include "engine/evolve/strategy.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/doctor/doctor.hpp"
#include "tools/tune/tune_command.hpp"
#include "tools/tune/winner_ways_run.hpp"

namespace evo {
namespace {

/// The number of compilers from which the default of --max-in-flight is computed at the start of a
/// run. If other hosts may compile, assumes at least kElsewhere compilers, because hosts connect
/// later.
std::size_t compilers_of(const TuneOptions& options) {
  constexpr std::size_t kElsewhere = 64;
  const std::size_t here = options.session.job_count();
  return options.session.remote.wants_workers() ? std::max(here, kElsewhere) : here;
}

ExitCode run(int argc, char** argv) {
  TuneOptions options;
  CLI::App app(kTuneDescription);
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv, tune_value_lists())) return *done;
  if (app.got_subcommand("doctor")) return run_doctor(options.json || options.doctor_json);
  (void)explain_seconds(options.explain, 0);
  options.has_offspring = app.count("--offspring") > 0;
  if (app.count("--max-in-flight") == 0) {
    options.tuner.max_in_flight =
        app.count("--offspring") > 0
            ? options.tuner.offspring
            : default_max_in_flight(compilers_of(options), strategy_learns(options.tuner.strategy));
  }
  options.take_resumption(app);
  handle_stop_signals();
  return tune(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-tune", [&] { return evo::run(argc, argv); });
}
