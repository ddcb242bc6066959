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
#include "engine/evolve/replay_study.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

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
  std::vector<std::string> predictions;  ///< one for each recording
  std::string strategy = "full";
  bool shuffle_predictions = false;
  evo::StudyOptions study;
  bool json = false;
};

using Predictions = std::unordered_map<evo::Candidate, double, evo::CandidateHash>;

/// The times that `evo-predict rank --json` wrote. The recording keeps what they are known of, and
/// of what failed as large a share.
Predictions read_predictions(const std::string& file, evo::Recording& recording) {
  const evo::Json json = evo::parse_json(evo::read_text_file(file), file);
  std::map<std::vector<std::string>, double> by_config;
  try {
    for (const evo::Json& candidate : json.at("candidates")) {
      std::vector<std::string> values;
      for (const evo::RecordedParameter& parameter : recording.parameters)
        values.push_back(candidate.at("config").at(parameter.name).get<std::string>());
      if (candidate.contains("predicted_us"))
        by_config.emplace(std::move(values), candidate.at("predicted_us").get<double>());
    }
  } catch (const evo::Json::exception& error) {
    throw evo::InputError(file + ": not what evo-predict rank --json writes for " + recording.name +
                          ": " + error.what());
  }
  Predictions predictions;
  std::vector<evo::RecordedEntry> ran;
  std::vector<evo::RecordedEntry> failed;
  for (evo::RecordedEntry& entry : recording.entries) {
    if (!entry.time_ms) {
      failed.push_back(std::move(entry));
      continue;
    }
    std::vector<std::string> values;
    for (std::size_t p = 0; p < recording.parameters.size(); ++p)
      values.push_back(recording.parameters[p].values.at(entry.candidate.choice[p]).text);
    const auto known = by_config.find(values);
    if (known == by_config.end()) continue;
    predictions.emplace(entry.candidate, known->second);
    ran.push_back(std::move(entry));
  }
  const std::size_t all = recording.entries.size() - failed.size();
  failed.resize(all == 0 ? 0 : failed.size() * ran.size() / all);
  recording.entries = std::move(ran);
  std::ranges::move(failed, std::back_inserter(recording.entries));
  return predictions;
}

/// Each candidate gets the time of another one.
void shuffle(Predictions& predictions, const evo::Recording& recording, std::uint64_t seed) {
  std::vector<double> times;
  for (const evo::RecordedEntry& entry : recording.entries)
    if (entry.time_ms) times.push_back(predictions.at(entry.candidate));
  evo::Random random(seed);
  for (const evo::RecordedEntry& entry : recording.entries) {
    if (!entry.time_ms) continue;
    std::swap(times.at(random.below(times.size())), times.back());
    predictions[entry.candidate] = times.back();
    times.pop_back();
  }
}

evo::ExitCode run(const Arguments& arguments) {
  const evo::StrategyMaker make = [&](const evo::CandidateSpace& space,
                                      const evo::StrategyOptions& options) {
    return evo::make_strategy(arguments.strategy, space, options);
  };
  std::vector<evo::StudyResult> results;
  double seconds = 0;
  double evaluations = 0;
  double proposals = 0;
  evo::StudyOptions study = arguments.study;
  for (std::size_t i = 0; i < arguments.recorded.size(); ++i) {
    evo::Recording recording = evo::read_recording(arguments.recorded[i]);
    Predictions predictions;
    if (!arguments.predictions.empty()) {
      predictions = read_predictions(arguments.predictions[i], recording);
      if (arguments.shuffle_predictions) shuffle(predictions, recording, arguments.study.seed);
      study.predicted_us = &predictions;
    }
    const evo::RecordedSpace space(std::move(recording));
    results.push_back(evo::run_study(space, make, study));
    seconds += results.back().seconds;
    evaluations += static_cast<double>(results.back().evaluations);
    proposals += static_cast<double>(results.back().proposals);
    if (arguments.json) std::puts(evo::study_json(results.back()).c_str());
  }
  if (!arguments.json) {
    std::fputs(evo::study_table(results).c_str(), stdout);
    std::printf(
        "%s, %zu repeats, %zu in flight, seed %llu: %.0f evaluations of %.0f proposals in %.1f s\n",
        arguments.strategy.c_str(), arguments.study.repeats, arguments.study.window,
        static_cast<unsigned long long>(arguments.study.seed), evaluations, proposals, seconds);
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
  app.add_option(
         "--predictions", arguments.predictions,
         "predicted times of each recording (evo-predict rank --json): a configuration without one "
         "is left out, and evaluations are those of the device: a failure before it costs none")
      ->type_name(evo::value_words::kFile);
  app.add_flag("--shuffle-predictions", arguments.shuffle_predictions,
               "give each candidate the predicted time of another one");
  app.add_option("--shortlist", arguments.study.shortlist,
                 "proposals for each that is measured, chosen by their predicted times; 0: all are "
                 "measured")
      ->capture_default_str()
      ->transform(evo::whole_number(0, 1000));
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
    if (!arguments.predictions.empty() &&
        arguments.predictions.size() != arguments.recorded.size()) {
      throw evo::InputError("--predictions: give one file for each recording");
    }
    if (arguments.study.shortlist > 0 && arguments.predictions.empty()) {
      throw evo::InputError("--shortlist: needs --predictions");
    }
    return run(arguments);
  });
}
