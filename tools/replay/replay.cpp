#include "tools/replay/replay.hpp"

#include <fmt/format.h>

namespace evo {

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
             study_table(results), options.strategy, options.study.repeats, options.study.window,
             options.study.seed, all.evaluations, all.seconds);
  return ExitCode::kGreen;
}

}  // namespace evo
