#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/study/replay_study.hpp"
#include "tools/help_format.hpp"
#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace {

constexpr const char* kAbout =
    "evo-replay: how close a search strategy comes to the optimum of recorded spaces.\n"
    "Each configuration is taken as if it were measured. One that failed costs an evaluation; a "
    "time is seen only when paid for. Recordings are Kernel Tuner caches or T4 results, plain or "
    "gzip.\n\n"
    "Columns: mean fraction optimum / best after so many evaluations ± standard deviation of a "
    "repeat; score P of the auto-tuning methodology (0 random search, 1 optimum); evaluations "
    "wasted on failures after the first 50, against the share that fails in the whole space.";

std::string joined_names() {
  std::string list;
  for (const std::string_view name : evo::strategy_names()) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

struct Arguments {
  std::vector<std::string> recorded;
  std::string strategy = "full";
  evo::StudyOptions study;
  bool json = false;
};

evo::ExitCode run(const Arguments& arguments) {
  const evo::StrategyMaker make = [&](const evo::CandidateSpace& space,
                                      const evo::StrategyOptions& options) {
    return evo::make_strategy(arguments.strategy, space, options);
  };
  std::vector<evo::StudyResult> results;
  double seconds = 0;
  double evaluations = 0;
  for (std::size_t i = 0; i < arguments.recorded.size(); ++i) {
    evo::Recording recording = evo::read_recording(arguments.recorded[i]);
    const evo::RecordedSpace space(std::move(recording));
    results.push_back(evo::run_study(space, make, arguments.study));
    seconds += results.back().seconds;
    evaluations += static_cast<double>(results.back().evaluations);
    if (arguments.json) std::puts(evo::study_json(results.back()).c_str());
  }
  if (!arguments.json) {
    std::fputs(evo::study_table(results).c_str(), stdout);
    std::printf("%s, %zu repeats, %zu in flight, seed %llu: %.0f evaluations in %.1f s\n",
                arguments.strategy.c_str(), arguments.study.repeats, arguments.study.window,
                static_cast<unsigned long long>(arguments.study.seed), evaluations, seconds);
  }
  return evo::ExitCode::kGreen;
}

evo::ValueLists value_lists() {
  return {{evo::value_words::kStrategy, [](const evo::GivenValues&) {
             return std::vector<std::string>(evo::strategy_names().begin(),
                                             evo::strategy_names().end());
           }}};
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--recorded", arguments.recorded, "recorded spaces (*.json, *.json.gz)")
      ->type_name(evo::value_words::kRecording)
      ->required();
  app.add_option("--strategy", arguments.strategy, joined_names())
      ->type_name(evo::value_words::kStrategy)
      ->capture_default_str();
  app.add_option("--repeats", arguments.study.repeats, "searches on each space, differently seeded")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1000000));
  app.add_option("--budget", arguments.study.budget,
                 "evaluations of a search; P may need more of them, and takes them")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 100000000));
  app.add_flag("!--no-cutoff", arguments.study.to_cutoff,
               "end at the budget; P then holds the last value up to its cut-off");
  app.add_option("--window", arguments.study.window, "candidates in flight")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 100000));
  app.add_option("--seed", arguments.study.seed, "seed of the first repeat")
      ->capture_default_str()
      ->transform(evo::seed_number());
  app.add_option("--jobs", arguments.study.jobs, "threads")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1024));
  app.add_flag("--json", arguments.json, "one JSON object for each space");
  app.footer(evo::exit_codes({{0, "replayed"}, {2, "bad usage or recording"}}));
}

}  // namespace

int main(int argc, char** argv) {
  return evo::tool_main("evo-replay", [&] {
    CLI::App app(kAbout, "evo-replay");
    Arguments arguments;
    declare(app, arguments);
    app.set_version_flag("--version", "evo-replay " EVO_VERSION);
    if (const auto done = evo::parse_command_line(app, argc, argv, value_lists())) return *done;
    return run(arguments);
  });
}
