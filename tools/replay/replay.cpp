#include "tools/replay/replay.hpp"

#include <fmt/format.h>

#include "tools/cli/number_options.hpp"

namespace evo {

void declare_study(CLI::App& app, StudyOptions& study) {
  app.add_option("--repeats", study.repeats,
                 "number of searches on each space, each with its own seed")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--budget", study.budget,
                 "evaluations of a search, which continues if the score P needs more")
      ->capture_default_str()
      ->transform(whole_number(1, 100000000));
  app.add_flag(
      "!--no-cutoff", study.to_cutoff,
      "end each search at its budget, even if the score P is computed over more evaluations");
  app.add_option("--max-in-flight", study.max_in_flight, "candidates in flight")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  app.add_option("--seed", study.seed, "seed of the first repeat")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--jobs", study.jobs, "host threads that search")
      ->capture_default_str()
      ->transform(whole_number(1, 1024));
}

ExitCode replay(const ReplayOptions& options) {
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

}  // namespace evo
