#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/evolve/replay_study.hpp"
#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace {

constexpr const char* kAbout =
    "Runs a search strategy on recorded spaces as if each configuration were measured, and reports "
    "how\n"
    "close it comes to the optimum. A configuration that failed costs an evaluation; a time is "
    "seen only\n"
    "when paid for. Recordings are Kernel Tuner caches or T4 results, plain or gzip.\n\n"
    "Columns: mean fraction optimum / best after so many evaluations ± standard deviation of a "
    "repeat;\n"
    "score P of the auto-tuning methodology (0 random search, 1 optimum); evaluations wasted on "
    "failures\n"
    "after the first 50, against the share that fails in the whole space.";

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
  for (const std::string& file : arguments.recorded) {
    const evo::RecordedSpace space(evo::read_recording(file));
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

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--recorded", arguments.recorded, "recorded spaces (*.json, *.json.gz)")
      ->required();
  app.add_option("--strategy", arguments.strategy, joined_names())->capture_default_str();
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
  app.add_option("--seed", arguments.study.seed, "of the first repeat")
      ->capture_default_str()
      ->transform(evo::seed_number());
  app.add_option("--jobs", arguments.study.jobs, "threads")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1024));
  app.add_flag("--json", arguments.json, "one JSON object for each space");
}

}  // namespace

int main(int argc, char** argv) {
  return evo::tool_main("evo-replay", [&] {
    CLI::App app(kAbout, "evo-replay");
    Arguments arguments;
    declare(app, arguments);
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    return run(arguments);
  });
}
