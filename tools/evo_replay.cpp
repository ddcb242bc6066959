// evo-replay: searches recorded spaces.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/replay/replay.hpp"

namespace evo {
namespace {

constexpr const char* kAbout =
    "evo-replay: how close a search strategy comes to the optimum of recorded spaces.\n"
    "Each configuration is taken as if it were measured. One that failed costs an evaluation; a "
    "time is seen only when paid for. Recordings are Kernel Tuner caches or T4 results, plain or "
    "gzip.\n\n"
    "Columns: mean fraction optimum / best after so many evaluations ± standard deviation of a "
    "repeat; score P of the auto-tuning methodology (0 random search, 1 optimum); evaluations "
    "wasted on failures after the first 50, against the share that fails in the whole space.";

ValueLists value_lists() {
  return {{value_words::kStrategy, [](const GivenValues&) {
             return std::vector<std::string>(strategy_names().begin(), strategy_names().end());
           }}};
}

void declare(CLI::App& app, ReplayOptions& options) {
  app.add_option("--recorded", options.recorded, "recorded spaces (*.json, *.json.gz)")
      ->type_name(value_words::kRecording)
      ->required();
  app.add_option("--strategy", options.strategy,
                 fmt::format("{}", fmt::join(strategy_names(), ", ")))
      ->type_name(value_words::kStrategy)
      ->capture_default_str();
  app.add_option("--repeats", options.study.repeats, "searches on each space, differently seeded")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--budget", options.study.budget,
                 "evaluations of a search; P may need more of them, and takes them")
      ->capture_default_str()
      ->transform(whole_number(1, 100000000));
  app.add_flag("!--no-cutoff", options.study.to_cutoff,
               "end at the budget; P then holds the last value up to its cut-off");
  app.add_option("--window", options.study.window, "candidates in flight")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  app.add_option("--seed", options.study.seed, "seed of the first repeat")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--jobs", options.study.jobs, "threads")
      ->capture_default_str()
      ->transform(whole_number(1, 1024));
  app.add_option(
         "--predictions", options.predictions,
         "predicted times of each recording (evo-predict rank --json): a configuration without one "
         "is left out, and evaluations are those of the device: a failure before it costs none")
      ->type_name(value_words::kFile);
  app.add_flag("--shuffle-predictions", options.shuffle_predictions,
               "give each candidate the predicted time of another one");
  app.add_option("--shortlist", options.study.shortlist,
                 "proposals for each that is measured, chosen by their predicted times; 0: all are "
                 "measured")
      ->capture_default_str()
      ->transform(whole_number(0, 1000));
  app.add_flag("--json", options.json, "one JSON object for each space");
  app.footer(exit_codes({{0, "replayed"}, {2, "bad usage or recording"}}));
}

ExitCode run(int argc, char** argv) {
  CLI::App app(kAbout, "evo-replay");
  ReplayOptions options;
  declare(app, options);
  app.set_version_flag("--version", "evo-replay " EVO_VERSION);
  if (const auto done = parse_command_line(app, argc, argv, value_lists())) return *done;
  return replay(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-replay", [&] { return evo::run(argc, argv); });
}
