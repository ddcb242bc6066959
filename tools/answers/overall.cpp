#include "tools/answers/overall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "tools/answers/outcome.hpp"
#include "tools/cli/argument_text.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsShown = 10;

/// The generation of a candidate, and the candidate's position in the generation. A candidate has
/// the same place in the runs of all shapes.
using Place = std::pair<int, int>;

struct OnShape {
  StoredRun run;
  double weight = 1;
  double best_us = std::numeric_limits<double>::infinity();
  std::map<Place, double> us = {};  ///< times of green kernels in µs
};

struct ServingKernel {
  Place place;
  CandidateId id = 0;  ///< id in the first run
  std::string config;
  std::vector<double> shares = {};  ///< best time on a shape / this kernel's time
  double mean = 0;
};

OnShape times_of(const Store& store, RunId run) {
  OnShape shape{store.run(run)};
  store.for_each_evaluation(run, [&](const EvaluationRecord& evaluation) {
    if (!is_green(evaluation) || evaluation.duplicate_of) return;
    shape.us[{evaluation.generation, evaluation.position}] = evaluation.timing->p50_us;
    shape.best_us = std::min(shape.best_us, evaluation.timing->p50_us);
  });
  // A/B comparisons decide the winner of a shape. A kernel whose stored time is lower than the
  // winner's time counts as equally fast as the winner.
  const std::vector<EliteRow> elite = elite_of_run(store, run);
  if (!elite.empty()) shape.best_us = elite.front().p50_us;
  for (auto& [place, us] : shape.us) us = std::max(us, shape.best_us);
  return shape;
}

void give_weights(std::vector<OnShape>& shapes, const std::map<std::string, double>& weights) {
  for (const auto& [name, weight] : weights) {
    const auto found =
        std::ranges::find(shapes, name, [](const OnShape& shape) { return shape.run.info.shape; });
    if (found == shapes.end()) {
      std::vector<std::string> known;
      for (const OnShape& shape : shapes) known.push_back(shape.run.info.shape);
      throw InputError("--weight: " + unknown_name("shape", name, known));
    }
    found->weight = weight;
  }
}

std::vector<ServingKernel> rank(const Store& store, const std::vector<OnShape>& shapes) {
  std::vector<ServingKernel> candidates;
  store.for_each_evaluation(shapes.front().run.id, [&](const EvaluationRecord& evaluation) {
    ServingKernel candidate{
        {evaluation.generation, evaluation.position}, evaluation.id, evaluation.config_json};
    double sum = 0;
    double weights = 0;
    for (const OnShape& shape : shapes) {
      const auto time = shape.us.find(candidate.place);
      if (time == shape.us.end()) return;  // not green on every shape
      candidate.shares.push_back(shape.best_us / time->second);
      sum += shape.weight * std::log(candidate.shares.back());
      weights += shape.weight;
    }
    candidate.mean = std::exp(sum / weights);
    candidates.push_back(std::move(candidate));
  });
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &ServingKernel::mean);
  if (candidates.size() > kRowsShown) candidates.resize(kRowsShown);
  return candidates;
}

}  // namespace

std::map<std::string, double> parse_weights(const std::vector<std::string>& texts) {
  std::map<std::string, double> weights;
  for (const std::string& text : texts) {
    const auto named = named_in(text);
    const auto weight = named ? number_in<double>(named->second) : std::nullopt;
    if (!weight || !std::isfinite(*weight) || *weight <= 0) {
      throw InputError("--weight " + text + ": allowed: SHAPE=NUMBER with a number above 0");
    }
    weights[named->first] = *weight;
  }
  return weights;
}

Answer overall_answer(const Store& store, RunId run, const std::map<std::string, double>& weights) {
  std::vector<OnShape> shapes;
  for (const RunId beside : store.runs_beside(run)) shapes.push_back(times_of(store, beside));
  if (shapes.size() < 2) {
    throw InputError(
        fmt::format("run {} tunes for one shape only; "
                    "overall needs a search for several shapes (evo-tune --shape A,B)",
                    run));
  }
  give_weights(shapes, weights);
  const StoredRun& first = shapes.front().run;
  Answer answer{.title = fmt::format("one kernel for all shapes of runs {} to {}: {} on {}, {}",
                                     first.id, shapes.back().run.id, first.info.space.name,
                                     first.info.device.name, kind_label(first.info.device)),
                .table = {.columns = {{"rank", "rank"}, {"mean", "mean of best", 3}}}};
  for (const OnShape& shape : shapes) {
    answer.table.columns.push_back({shape.run.info.shape, shape.run.info.shape, 3});
  }
  answer.table.columns.insert(answer.table.columns.end(), {{"kind", "kind", 0, true},
                                                           {"candidate", "candidate"},
                                                           {"config", "", 0, true},
                                                           {"", "configuration", 0, true}});
  const std::vector<ServingKernel> candidates = rank(store, shapes);
  std::vector<Json> configs;
  for (const ServingKernel& candidate : candidates)
    configs.push_back(Json::parse(candidate.config));
  const SplitConfigs texts = split_configs(configs);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ServingKernel& candidate = candidates[i];
    std::vector<Json> row = {i + 1, candidate.mean};
    row.insert(row.end(), candidate.shares.begin(), candidate.shares.end());
    row.insert(row.end(),
               {to_string(first.info.device.time_kind), candidate.id, configs[i], texts.each[i]});
    answer.table.rows.push_back(std::move(row));
  }
  if (!texts.common.empty()) answer.notes = "in common: " + texts.common + "\n";
  answer.notes +=
      "columns: best known time on a shape / this kernel's time, and "
      "the geometric mean of these ratios; a kernel with mean 1 is the fastest on every shape\n";
  return answer;
}

}  // namespace evo
