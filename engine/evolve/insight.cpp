#include "engine/evolve/insight.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/statistics.hpp"
#include "engine/evolve/additive_model.hpp"

namespace evo {
namespace {

/// a value is reported as always failing if at least this many candidates have it, and all failed
constexpr std::size_t kFewestFailures = 2;
constexpr std::size_t kFewestNear = 20;  ///< candidates required for importance near the winner
constexpr std::size_t kMostInteractions = 10;

/// The candidates that passed all gates, with ln of their times.
struct Runs {
  std::vector<Candidate> candidates;
  std::vector<double> log_times;

  void add(const Candidate& candidate, double log_time) {
    candidates.push_back(candidate);
    log_times.push_back(log_time);
  }
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

/// Covariance of `a` and `b`.
double covariance_of(std::span<const double> a, std::span<const double> b) {
  const double a_center = mean(a);
  const double b_center = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - a_center) * (b[i] - b_center);
  return sum / static_cast<double>(a.size());
}

/// The shares of the variance of ln time that an additive model explains: by all parameters
/// together, and by each parameter.
struct Shares {
  double explained = 0;
  std::vector<double> of_parameter;
};

/// The share of a parameter is cov(effect of its values, ln time) / var(ln time). For a
/// least-squares fit, the unclamped shares of all parameters add up to that of the model, even if
/// parameters are correlated.
Shares shares_of(const CandidateSpace& space, const Runs& runs) {
  Shares shares{.of_parameter = std::vector<double>(space.parameter_count(), 0.0)};
  const double total = covariance_of(runs.log_times, runs.log_times);
  if (total <= 0) return shares;
  const AdditiveModel model(space, runs.candidates, runs.log_times);
  std::vector<double> residuals;
  for (std::size_t r = 0; r < runs.candidates.size(); ++r) {
    residuals.push_back(runs.log_times[r] - model.predict(runs.candidates[r]));
  }
  shares.explained = std::clamp(1 - covariance_of(residuals, residuals) / total, 0.0, 1.0);
  for (std::size_t p = 0; p < shares.of_parameter.size(); ++p) {
    std::vector<double> effects;
    for (const Candidate& candidate : runs.candidates) {
      effects.push_back(model.effect(p, candidate.choice[p]));
    }
    shares.of_parameter[p] = std::clamp(covariance_of(effects, runs.log_times) / total, 0.0, 1.0);
  }
  return shares;
}

Runs near_of(const Runs& runs, double best_us) {
  Runs near;
  for (std::size_t r = 0; r < runs.candidates.size(); ++r) {
    const bool is_near = runs.log_times[r] <= std::log(best_us * NearbyPairs::kNearTime);
    if (is_near) near.add(runs.candidates[r], runs.log_times[r]);
  }
  return near;
}

std::optional<Gate> failure_of(const Candidate& candidate,
                               std::span<const Observation> observations) {
  const auto found = std::ranges::find_if(observations, [&](const Observation& observation) {
    return !observation.time_us && observation.candidate == candidate;
  });
  if (found == observations.end()) return std::nullopt;
  return found->failed_at.value_or(Gate::kTiming);
}

KnobInsight knob_of(std::vector<ValueInsight> values, const Candidate& best,
                    const NearbyPairs& pairs, const CandidateSpace& space,
                    std::span<const Observation> observations) {
  const std::size_t parameter = values.front().parameter;
  KnobInsight knob;
  knob.parameter = parameter;
  knob.best_value = best.choice[parameter];
  for (ValueInsight& value : values) {
    if (value.runs + value.failed() == 0) continue;
    if (value.value != knob.best_value) {
      Candidate changed = best;
      changed.choice[parameter] = static_cast<std::uint16_t>(value.value);
      value.is_allowed_in_winner = space.is_valid(changed);
      value.failed_in_winner = failure_of(changed, observations);
      value.effect = pairs.effect(parameter, value.value);
    }
    knob.values.push_back(value);
  }
  return knob;
}

std::vector<InteractionInsight> find_interactions(const NearbyPairs& pairs) {
  std::vector<InteractionInsight> found;
  for (const NearbyPairs::Square& square : pairs.squares()) {
    if (found.size() == kMostInteractions) break;
    found.push_back({{square.first_parameter, square.second_parameter},
                     {square.first_value, square.second_value},
                     square.beyond});
  }
  return found;
}

std::vector<ValueInsight> find_negatives(const std::vector<KnobInsight>& knobs) {
  std::vector<ValueInsight> negatives;
  for (const KnobInsight& knob : knobs) {
    for (const ValueInsight& value : knob.values) {
      if (!value.effect) continue;
      const PairVerdict verdict = value.effect->verdict();
      const bool is_negative = verdict == PairVerdict::kSlower || verdict == PairVerdict::kSame;
      if (is_negative) negatives.push_back(value);
    }
  }
  std::ranges::stable_sort(negatives, [](const auto& a, const auto& b) {
    return *a.effect->in_winner > *b.effect->in_winner;
  });
  return negatives;
}

void learn_from_runs(const Runs& runs, const ValueTable& table, const CandidateSpace& space,
                     std::span<const Observation> observations, Insight& insight) {
  const Shares all = shares_of(space, runs);
  const Runs near_runs = near_of(runs, insight.best_us);
  insight.explained = all.explained;
  insight.near_runs = near_runs.candidates.size();
  std::optional<Shares> near;
  if (insight.near_runs >= kFewestNear) {
    near = shares_of(space, near_runs);
    insight.near_explained = near->explained;
  }
  const NearbyPairs pairs(runs.candidates, runs.log_times, *insight.best);
  for (std::size_t p = 0; p < table.size(); ++p) {
    if (space.value_count(p) < 2) continue;
    insight.knobs.push_back(knob_of(table[p], *insight.best, pairs, space, observations));
    insight.knobs.back().importance = all.of_parameter[p];
    if (near) insight.knobs.back().near_importance = near->of_parameter[p];
  }
  std::ranges::stable_sort(insight.knobs, [](const KnobInsight& a, const KnobInsight& b) {
    return a.near_importance.value_or(a.importance) > b.near_importance.value_or(b.importance);
  });
  insight.interactions = find_interactions(pairs);
  insight.negatives = find_negatives(insight.knobs);
}

}  // namespace

std::size_t ValueInsight::failed() const {
  return std::accumulate(failures.begin(), failures.end(), std::size_t{0});
}

Insight learn(const CandidateSpace& space, std::span<const Observation> observations,
              const std::optional<Candidate>& winner) {
  Insight insight;
  insight.evaluations = observations.size();
  Runs runs;
  for (const Observation& observation : observations) {
    if (!observation.time_us) {
      ++insight.failed;
      continue;
    }
    runs.add(observation.candidate, std::log(*observation.time_us));
    const bool is_best = winner ? observation.candidate == *winner && !insight.best
                                : !insight.best || *observation.time_us < insight.best_us;
    if (!is_best) continue;
    insight.best = observation.candidate;
    insight.best_us = *observation.time_us;
  }
  const ValueTable table = count_values(space, observations);
  for (const std::vector<ValueInsight>& values : table) {
    for (const ValueInsight& value : values) {
      if (value.runs == 0 && value.failed() >= kFewestFailures)
        insight.only_failed.push_back(value);
    }
  }
  if (insight.best) learn_from_runs(runs, table, space, observations, insight);
  return insight;
}

}  // namespace evo
