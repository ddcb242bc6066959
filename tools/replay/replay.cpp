#include "tools/replay/replay.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

using Predictions = std::unordered_map<Candidate, double, CandidateHash>;

/// The times that `evo-predict rank --json` wrote. The recording keeps what they are known of, and
/// of what failed as large a share.
Predictions read_predictions(const std::string& file, Recording& recording) {
  const Json json = parse_json(read_text_file(file), file);
  std::map<std::vector<std::string>, double> by_config;
  try {
    for (const Json& candidate : json.at("candidates")) {
      std::vector<std::string> values;
      for (const RecordedParameter& parameter : recording.parameters)
        values.push_back(candidate.at("config").at(parameter.name).get<std::string>());
      if (candidate.contains("predicted_us"))
        by_config.emplace(std::move(values), candidate.at("predicted_us").get<double>());
    }
  } catch (const Json::exception& error) {
    throw InputError(file + ": not what evo-predict rank --json writes for " + recording.name +
                     ": " + error.what());
  }
  Predictions predictions;
  std::vector<RecordedEntry> ran;
  std::vector<RecordedEntry> failed;
  for (RecordedEntry& entry : recording.entries) {
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
void shuffle(Predictions& predictions, const Recording& recording, std::uint64_t seed) {
  std::vector<double> times;
  for (const RecordedEntry& entry : recording.entries)
    if (entry.time_ms) times.push_back(predictions.at(entry.candidate));
  Random random(seed);
  for (const RecordedEntry& entry : recording.entries) {
    if (!entry.time_ms) continue;
    std::swap(times.at(random.below(times.size())), times.back());
    predictions[entry.candidate] = times.back();
    times.pop_back();
  }
}

}  // namespace

ExitCode replay(const ReplayOptions& options) {
  if (!options.predictions.empty() && options.predictions.size() != options.recorded.size()) {
    throw InputError("--predictions: give one file for each recording");
  }
  if (options.study.shortlist > 0 && options.predictions.empty()) {
    throw InputError("--shortlist: needs --predictions");
  }
  const StrategyMaker make = [&](const CandidateSpace& space, const StrategyOptions& of_strategy) {
    return make_strategy(options.strategy, space, of_strategy);
  };
  std::vector<StudyResult> results;
  double seconds = 0;
  double evaluations = 0;
  double proposals = 0;
  StudyOptions study = options.study;
  for (std::size_t i = 0; i < options.recorded.size(); ++i) {
    Recording recording = read_recording(options.recorded[i]);
    Predictions predictions;
    if (!options.predictions.empty()) {
      predictions = read_predictions(options.predictions[i], recording);
      if (options.shuffle_predictions) shuffle(predictions, recording, options.study.seed);
      study.predicted_us = &predictions;
    }
    const RecordedSpace space(std::move(recording));
    results.push_back(run_study(space, make, study));
    seconds += results.back().seconds;
    evaluations += static_cast<double>(results.back().evaluations);
    proposals += static_cast<double>(results.back().proposals);
    if (options.json) std::puts(study_json(results.back()).c_str());
  }
  if (!options.json) {
    std::fputs(study_table(results).c_str(), stdout);
    std::printf(
        "%s, %zu repeats, %zu in flight, seed %llu: %.0f evaluations of %.0f proposals in %.1f s\n",
        options.strategy.c_str(), options.study.repeats, options.study.window,
        static_cast<unsigned long long>(options.study.seed), evaluations, proposals, seconds);
  }
  return ExitCode::kGreen;
}

}  // namespace evo
