// evo-replay: runs search strategies on recorded spaces.

#include <fmt/ranges.h>

#include "engine/study/replay_study.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

constexpr const char* kAbout =
    "evo-replay: measures how close strategies come to the best recorded time.\n"
    "A strategy gets the recorded result of each configuration that it proposes; "
    "a failed configuration also costs an evaluation. "
    "Recordings are Kernel Tuner caches or T4 results, plain or gzip.\n\n"
    "Columns: optimum / best time after 25, 50, ... evaluations "
    "(mean ± standard deviation over the repeats); "
    "score P (Willemsen et al. 2024, 'A methodology for comparing optimization algorithms for "
    "auto-tuning'): 0 at the mean rank of a random search, "
    "1 at the optimum from the first evaluation on, negative if worse than random; "
    "the fraction of failures among the evaluations after the first 50, and in the whole space.";

struct Options {
  std::vector<std::string> recorded;
  std::string strategy = "full";
  StudyOptions study;
  bool json = false;
};

ValueLists value_lists() {
  const std::vector<std::string> names(strategy_names().begin(), strategy_names().end());
  return {{value_words::kStrategy, [names](const GivenValues&) { return names; }}};
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--recorded", options.recorded, "recorded spaces (*.json, *.json.gz)")
      ->type_name(value_words::kRecording)
      ->required();
  app.add_option("--strategy", options.strategy,
                 fmt::format("{}, or 'program: COMMAND'", fmt::join(strategy_names(), ", ")))
      ->type_name(value_words::kStrategy)
      ->capture_default_str();
  app.add_option("--repeats", options.study.repeats,
                 "number of searches on each space, each with its own seed")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--budget", options.study.budget,
                 "evaluations of a search, which continues if the score P needs more")
      ->capture_default_str()
      ->transform(whole_number(1, 100000000));
  app.add_flag(
      "!--no-cutoff", options.study.to_cutoff,
      "end each search at its budget, even if the score P is computed over more evaluations");
  app.add_option("--max-in-flight", options.study.max_in_flight, "candidates in flight")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  app.add_option("--seed", options.study.seed, "seed of the first repeat")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--jobs", options.study.jobs, "host threads that search")
      ->capture_default_str()
      ->transform(whole_number(1, 1024));
  app.add_flag("--json", options.json, "one JSON object for each space");
  app.footer(exit_codes({{0, "replayed"}, {2, "bad usage or recording"}}));
}

ExitCode replay(const Options& options) {
  const StrategyMaker make = [&](const auto& space, const auto& strategy_options) {
    return make_strategy(options.strategy, space, strategy_options);
  };
  std::vector<StudyResult> results;
  StudyResult all;
  for (const std::string& file : options.recorded) {
    results.push_back(run_study(RecordedSpace(read_recording(file)), make, options.study));
    all.seconds += results.back().seconds;
    all.evaluations += results.back().evaluations;
    if (options.json) fmt::print("{}\n", study_json(results.back()));
  }
  if (options.json) return ExitCode::kGreen;
  fmt::print("{}{}, {} repeats, {} in flight, seed {}: {} evaluations in {:.1f} s\n",
             study_table(results), options.strategy, options.study.repeats,
             options.study.max_in_flight, options.study.seed, all.evaluations, all.seconds);
  return ExitCode::kGreen;
}

ExitCode run(int argc, char** argv) {
  CLI::App app(kAbout, "evo-replay");
  Options options;
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
