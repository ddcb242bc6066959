#include "engine/evolve/insight.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/core/statistics.hpp"
#include "engine/evolve/additive_model.hpp"

namespace evo {
namespace {

constexpr double k95 = 1.96;
constexpr std::size_t kFewestFailures = 2;    ///< before "only failed" is said
constexpr std::size_t kFewestCellRuns = 3;    ///< of a pair of values
constexpr double kInteractionDeviations = 3;  ///< many pairs are looked at, so more than two
constexpr std::size_t kMostInteractions = 10;
constexpr double kNoDifference = 0.01;  ///< of ln time: one per cent

/// What ran, and ln of its time.
struct Runs {
  std::vector<Candidate> candidates;
  std::vector<double> log_times;
};

using ValueTable = std::vector<std::vector<ValueInsight>>;

ValueTable count_values(const CandidateSpace& space, std::span<const Observation> observations) {
  ValueTable table(space.parameter_count());
  for (std::size_t p = 0; p < table.size(); ++p) {
    for (std::size_t v = 0; v < space.value_count(p); ++v) table[p].push_back({p, v});
  }
  for (const Observation& observation : observations) {
    for (std::size_t p = 0; p < table.size(); ++p) {
      ValueInsight& value = table[p][observation.candidate.choice[p]];
      if (observation.time_us) {
        ++value.runs;
      } else {
        ++value.failures[static_cast<std::size_t>(observation.failed_at.value_or(Gate::kTiming))];
      }
    }
  }
  return table;
}

double variance_of(std::span<const double> values) {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum / static_cast<double>(values.size());
}

/// Share of the variance that the effects of one parameter make among the runs.
double importance_of(const AdditiveModel& model, std::size_t parameter, const Runs& runs,
                     double total) {
  std::vector<double> effects;
  for (const Candidate& candidate : runs.candidates) {
    effects.push_back(model.effect(parameter, candidate.choice[parameter]));
  }
  return total > 0 ? std::min(1.0, variance_of(effects) / total) : 0;
}

KnobInsight knob_of(std::size_t parameter, std::vector<ValueInsight> values, const Candidate& best,
                    const AdditiveModel& model) {
  KnobInsight knob{parameter, best.choice[parameter], 0, {}};
  for (ValueInsight& value : values) {
    if (value.runs + value.failed() == 0) continue;
    if (value.runs > 0 && value.value != knob.best_value) {
      value.effect =
          LogEffect{model.effect(parameter, value.value) - model.effect(parameter, knob.best_value),
                    k95 * model.contrast_deviation(parameter, value.value, knob.best_value)};
    }
    knob.values.push_back(value);
  }
  return knob;
}

/// Mean residual of every pair of values that ran together often enough, where it stands out.
std::vector<InteractionInsight> find_interactions(const AdditiveModel& model, const Runs& runs) {
  std::map<std::array<std::size_t, 4>, std::pair<double, std::size_t>> cells;
  for (std::size_t r = 0; r < runs.candidates.size(); ++r) {
    const std::vector<std::uint16_t>& choice = runs.candidates[r].choice;
    const double residual = runs.log_times[r] - model.predict(runs.candidates[r]);
    for (std::size_t p = 0; p < choice.size(); ++p) {
      for (std::size_t q = p + 1; q < choice.size(); ++q) {
        auto& [sum, count] = cells[{p, q, choice[p], choice[q]}];
        sum += residual;
        ++count;
      }
    }
  }
  std::vector<InteractionInsight> found;
  for (const auto& [key, cell] : cells) {
    const auto n = static_cast<double>(cell.second);
    const double deviation = std::sqrt(model.noise_variance() / n);
    const double effect = cell.first / n;
    if (cell.second < kFewestCellRuns || std::abs(effect) < kInteractionDeviations * deviation) {
      continue;
    }
    found.push_back({{key[0], key[1]}, {key[2], key[3]}, cell.second, {effect, k95 * deviation}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::abs(a.effect.value) > std::abs(b.effect.value);
  });
  if (found.size() > kMostInteractions) found.resize(kMostInteractions);
  return found;
}

std::vector<ValueInsight> find_negatives(const std::vector<KnobInsight>& knobs) {
  std::vector<ValueInsight> negatives;
  for (const KnobInsight& knob : knobs) {
    for (const ValueInsight& value : knob.values) {
      if (!value.effect) continue;
      const bool is_slower = value.effect->value - value.effect->half_width > 0;
      const bool is_same = std::abs(value.effect->value) + value.effect->half_width < kNoDifference;
      if (is_slower || is_same) negatives.push_back(value);
    }
  }
  std::stable_sort(negatives.begin(), negatives.end(),
                   [](const auto& a, const auto& b) { return a.effect->value > b.effect->value; });
  return negatives;
}

void learn_from_runs(const Runs& runs, const ValueTable& table, const CandidateSpace& space,
                     Insight& insight) {
  const AdditiveModel model(space, runs.candidates, runs.log_times);
  const double total = variance_of(runs.log_times);
  std::vector<double> residuals;
  for (std::size_t r = 0; r < runs.candidates.size(); ++r) {
    residuals.push_back(runs.log_times[r] - model.predict(runs.candidates[r]));
  }
  insight.explained = total > 0 ? std::clamp(1 - variance_of(residuals) / total, 0.0, 1.0) : 0;
  for (std::size_t p = 0; p < table.size(); ++p) {
    if (space.value_count(p) < 2) continue;
    insight.knobs.push_back(knob_of(p, table[p], *insight.best, model));
    insight.knobs.back().importance = importance_of(model, p, runs, total);
  }
  std::stable_sort(insight.knobs.begin(), insight.knobs.end(),
                   [](const auto& a, const auto& b) { return a.importance > b.importance; });
  insight.interactions = find_interactions(model, runs);
  insight.negatives = find_negatives(insight.knobs);
}

}  // namespace

double LogEffect::percent() const { return 100 * std::expm1(value); }

double LogEffect::percent_half_width() const { return 100 * std::exp(value) * half_width; }

std::size_t ValueInsight::failed() const {
  return std::accumulate(failures.begin(), failures.end(), std::size_t{0});
}

Gate ValueInsight::worst_gate() const {
  const auto most = std::max_element(failures.begin(), failures.end());
  return static_cast<Gate>(most - failures.begin());
}

Insight learn(const CandidateSpace& space, std::span<const Observation> observations) {
  Insight insight;
  insight.evaluations = observations.size();
  Runs runs;
  for (const Observation& observation : observations) {
    if (!observation.time_us) {
      ++insight.failed;
      continue;
    }
    runs.candidates.push_back(observation.candidate);
    runs.log_times.push_back(std::log(*observation.time_us));
    if (!insight.best || *observation.time_us < insight.best_us) {
      insight.best = observation.candidate;
      insight.best_us = *observation.time_us;
    }
  }
  const ValueTable table = count_values(space, observations);
  for (const std::vector<ValueInsight>& values : table) {
    for (const ValueInsight& value : values) {
      if (value.runs == 0 && value.failed() >= kFewestFailures)
        insight.only_failed.push_back(value);
    }
  }
  if (insight.best) learn_from_runs(runs, table, space, insight);
  return insight;
}

}  // namespace evo
