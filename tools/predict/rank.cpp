// evo-predict rank: compares the order of predicted times with the recorded times of a space.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/random.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "engine/device/virtual/timing/prediction.hpp"
#include "engine/predict/ranking.hpp"
#include "engine/study/recorded_space.hpp"
#include "tools/cli/data_folder.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/predict/predict.hpp"
#include "tools/predict/space_on_device.hpp"

namespace evo {
namespace {

constexpr std::string_view kRankFormat = "evo-tune prediction 1";

using OrderedJson = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e3;  ///< microseconds per millisecond

struct Predicted {
  double us = 0;
  bool is_simulated = false;   ///< true if all steps are simulated
  std::vector<double> varied;  ///< predicted time in µs with each variant of the device
};

/// The rates of the device, once for each value of the constant that --figure varies.
std::vector<MachineRates> variants_of(const RankArguments& arguments) {
  std::vector<MachineRates> variants;
  for (const double value : arguments.figure_values) {
    variants.push_back(ptx::machine_rates(
        ptx::with_figure(ptx::device_model(arguments.device), arguments.figure, value)));
  }
  return variants;
}

double us_with(const MachineRates& rates, const std::vector<ptx::PredictedLaunch>& steps) {
  double us = 0;
  for (const ptx::PredictedLaunch& step : steps) us += ptx::predicted_us(rates, step);
  return us;
}

/// The virtual GPU of the recorded model; kDefaultModel, with a notice, if there is none.
std::string model_of(const Recording& recording) {
  constexpr std::string_view kVirtual = "virtual ";
  std::string_view recorded = recording.device;
  if (recorded.starts_with(kVirtual)) recorded.remove_prefix(kVirtual.size());
  for (const std::string& id : ptx::device_ids()) {
    const std::string name = ptx::device_model(id).info.name.substr(kVirtual.size());
    const bool is_longer = recorded.size() > name.size() &&
                           std::isalnum(static_cast<unsigned char>(recorded[name.size()]));
    if (recorded.starts_with(name) && !is_longer) return id;
  }
  std::fprintf(stderr,
               "evo-predict: there is no virtual GPU of the recorded '%s'; the times are predicted "
               "for %s, unless --device names another\n",
               recording.device.c_str(), kDefaultModel);
  return kDefaultModel;
}

/// The recorded candidate. Throws SpaceError if the space has lost one of its values since the
/// recording.
Candidate candidate_of(const Space& space, const Recording& recording, const RecordedEntry& entry) {
  Settings settings;
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    const RecordedParameter& parameter = recording.parameters[i];
    settings.emplace_back(parameter.name, parameter.values.at(entry.candidate.choice.at(i)).text);
  }
  return space.candidate_from_settings(settings, space.defaults());
}

/// The predicted time of a candidate; nullopt if the kernel cannot be compiled or run on the
/// virtual GPU.
std::optional<Predicted> predict(SpaceOnDevice& on, const Candidate& candidate,
                                 const std::vector<MachineRates>& variants) {
  const CompileOutcome outcome = on.compile(candidate);
  const auto* compiled = std::get_if<Compiled>(&outcome);
  if (compiled == nullptr) return std::nullopt;
  const auto loaded = on.load(candidate, *compiled);
  const auto* kernel = std::get_if<LoadedKernel>(&loaded);
  if (kernel == nullptr) return std::nullopt;
  std::optional<Predicted> result;
  const auto made = on.workspace_of(*kernel);
  if (const auto* workspace = std::get_if<Workspace>(&made)) {
    const CheckCase& data = on.data();
    const auto us = on.device().predicting()->predict_us(kernel->id, kernel->launch_for(data),
                                                         workspace->arguments_of(data));
    if (const auto* value = std::get_if<double>(&us)) {
      const auto& steps = on.device().predictions();
      result = {*value, std::ranges::all_of(steps, &ptx::PredictedLaunch::is_simulated), {}};
      for (const MachineRates& rates : variants) result->varied.push_back(us_with(rates, steps));
    }
  }
  on.device().unload(kernel->id);
  return result;
}

/// Draws --count recorded candidates at random without replacement, among those with a time.
std::vector<RecordedEntry> drawn(const Recording& recording, const RankArguments& arguments) {
  std::vector<RecordedEntry> entries;
  for (const RecordedEntry& entry : recording.entries) {
    if (entry.time_ms) entries.push_back(entry);
  }
  Random random(arguments.seed);
  for (std::size_t i = 0; i + 1 < entries.size(); ++i)
    std::swap(entries[i], entries[i + random.below(entries.size() - i)]);
  entries.resize(std::min(entries.size(), arguments.count));
  return entries;
}

/// Predicts the times of `entries`, in their order; nullopt if the space does not have the
/// candidate, or if predict() gives no time. Throws InputError if the space has none of them.
std::vector<std::optional<Predicted>> predict_all(const RankArguments& arguments,
                                                  const Recording& recording,
                                                  const std::vector<RecordedEntry>& entries) {
  std::vector<std::optional<Predicted>> predicted(entries.size());
  std::vector<std::string> unknown(entries.size());  // why the space does not have the candidate
  const std::vector<MachineRates> variants = variants_of(arguments);
  const auto threads = static_cast<std::size_t>(arguments.threads);
  in_parallel(threads, entries.size(), [&](const auto& next) {
    SpaceOnDevice on(find_space(arguments.space).string(), arguments.shape, arguments.device,
                     {.threads = 1});
    while (const auto i = next()) {
      try {
        predicted[*i] = predict(on, candidate_of(on.space(), recording, entries[*i]), variants);
      } catch (const SpaceError& error) {
        unknown[*i] = error.what();
      }
    }
  });
  if (!unknown.empty() && std::ranges::count(unknown, std::string()) == 0) {
    throw InputError(fmt::format(
        "none of the {} recorded candidates that were drawn is a configuration of {}: {}; name the "
        "space of the recording",
        entries.size(), arguments.space, unknown.front()));
  }
  return predicted;
}

OrderedJson score_json(const RankScore& score) {
  OrderedJson shortlists = OrderedJson::object();
  for (std::size_t i = 0; i < kShortlists.size(); ++i)
    shortlists[std::to_string(kShortlists[i])] = score.loss_of_shortlist[i];
  return {{"kernels", score.kernels},
          {"within_twice_the_best", score.near},
          {"spearman", score.spearman},
          {"spearman_within_twice_the_best", score.spearman_near},
          {"kendall", score.kendall},
          {"kendall_within_twice_the_best", score.kendall_near},
          {"median_error", score.median_error},
          {"loss_of_predicted_fastest", score.loss},
          {"loss_of_best_among_predicted_fastest", shortlists}};
}

OrderedJson candidate_json(const Recording& recording, const RecordedEntry& entry,
                           const std::optional<Predicted>& predicted) {
  OrderedJson config = OrderedJson::object();
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    const RecordedParameter& parameter = recording.parameters[i];
    config[parameter.name] = parameter.values.at(entry.candidate.choice.at(i)).text;
  }
  OrderedJson json = {{"config", config}, {"measured_us", *entry.time_ms * kMicroseconds}};
  if (predicted) {
    json["predicted_us"] = predicted->us;
    json["from"] = predicted->is_simulated ? "machine code" : "counts";
  }
  return json;
}

void print(const RankScore& score) {
  constexpr double kToPercent = 100;
  std::printf("%-32s %8s %22s\n", "", "all", "within twice the best");
  std::printf("%-32s %8zu %22zu\n", "kernels", score.kernels, score.near);
  std::printf("%-32s %8.2f %22.2f\n", "Spearman", score.spearman, score.spearman_near);
  std::printf("%-32s %8.2f %22.2f\n", "Kendall", score.kendall, score.kendall_near);
  std::printf("median error %.0f %%\n", kToPercent * score.median_error);
  std::printf("slower than the best: predicted fastest %.1f %%", kToPercent * score.loss);
  for (std::size_t i = 0; i < kShortlists.size(); ++i) {
    std::printf(", best of the %zu predicted fastest %.1f %%", kShortlists[i],
                kToPercent * score.loss_of_shortlist[i]);
  }
  std::printf("\n");
}

/// The scores over every second candidate, from index `half` (0 or 1) on. `value`: position of the
/// varied value in --values.
RankScore score_of_half(const std::vector<RecordedEntry>& entries,
                        const std::vector<std::optional<Predicted>>& predicted, std::size_t value,
                        std::size_t half) {
  std::vector<double> measured;
  std::vector<double> known;
  for (std::size_t i = half; i < entries.size(); i += 2) {
    if (!predicted[i]) continue;
    measured.push_back(*entries[i].time_ms * kMicroseconds);
    known.push_back(predicted[i]->varied[value]);
  }
  return rank_score(measured, known);
}

void print_variants(const RankArguments& arguments, const std::vector<RecordedEntry>& entries,
                    const std::vector<std::optional<Predicted>>& predicted) {
  constexpr double kToPercent = 100;
  constexpr std::array<const char*, 2> kHalves = {"even", "odd"};
  for (std::size_t v = 0; v < arguments.figure_values.size(); ++v) {
    for (std::size_t half = 0; half < kHalves.size(); ++half) {
      const RankScore score = score_of_half(entries, predicted, v, half);
      std::printf("%s = %g, %s: Spearman %.3f, within twice the best %.3f, median error %.1f %%\n",
                  arguments.figure.c_str(), arguments.figure_values[v], kHalves.at(half),
                  score.spearman, score.spearman_near, kToPercent * score.median_error);
    }
  }
}

}  // namespace

void rank_recorded(RankArguments arguments) {
  const Recording recording = read_recording(arguments.recording);
  if (arguments.device.empty()) arguments.device = model_of(recording);
  const std::vector<RecordedEntry> entries = drawn(recording, arguments);
  const auto predicted = predict_all(arguments, recording, entries);
  std::vector<double> measured;
  std::vector<double> known;
  std::size_t counted = 0;
  OrderedJson candidates = OrderedJson::array();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    candidates.push_back(candidate_json(recording, entries[i], predicted[i]));
    if (!predicted[i]) continue;
    measured.push_back(*entries[i].time_ms * kMicroseconds);
    known.push_back(predicted[i]->us);
    counted += predicted[i]->is_simulated ? 0 : 1;
  }
  if (known.empty()) {
    throw InputError(fmt::format(
        "none of the {} recorded candidates that were drawn can be compiled and run on {}; next "
        "step: evo-predict explain with the same space and device says why",
        entries.size(), arguments.device));
  }
  const RankScore score = rank_score(measured, known);
  std::printf(
      "%s: %s %s, predicted for %s; "
      "%zu candidates: %zu from machine code, %zu from counts, %zu without a prediction "
      "(not in the space, or failed to compile or run here)\n",
      recording.name.c_str(),
      recording.is_predicted ? "recorded times are PREDICTED for" : "measured on",
      recording.device.c_str(), arguments.device.c_str(), entries.size(), known.size() - counted,
      counted, entries.size() - known.size());
  print(score);
  print_variants(arguments, entries, predicted);
  if (arguments.json.empty()) return;
  const OrderedJson json = {{"format", kRankFormat},
                            {"recording", recording.name},
                            {"measured_on", recording.device},
                            {"recording_is_predicted", recording.is_predicted},
                            {"predicted_for", arguments.device},
                            {"seed", arguments.seed},
                            {"score", score_json(score)},
                            {"candidates", candidates}};
  write_outputs({{arguments.json, json.dump(1) + "\n"}}, {"evo-predict", {kRankFormat}});
}

}  // namespace evo
