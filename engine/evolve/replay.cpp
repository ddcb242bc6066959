#include "engine/evolve/replay.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine/core/error.hpp"
#include "engine/evolve/seen_set.hpp"
#include "engine/evolve/window.hpp"

namespace evo {
namespace {

/// Of the methodology: the share of (median − optimum) above the optimum at which the budget ends.
constexpr double kCutoffShare = 0.05;

double best_at(const ReplayTrace& trace, std::size_t evaluations) {
  if (trace.best_ms.empty()) return std::numeric_limits<double>::infinity();
  return trace.best_ms[std::min(evaluations, trace.best_ms.size()) - 1];
}

Observation evaluate(const RecordedSpace& space, const Candidate& candidate) {
  const RecordedEntry& entry = space.entry(candidate);
  Observation observation{candidate};
  if (entry.time_ms) {
    observation.time_us = *entry.time_ms * 1e3;
  } else {
    observation.failed_at = gate_of_failure(entry.failure);
  }
  return observation;
}

}  // namespace

Gate gate_of_failure(const std::string& failure) {
  const auto mentions = [&](const char* word) { return failure.find(word) != std::string::npos; };
  if (mentions("ompil") || mentions("build")) return Gate::kBuild;
  if (mentions("resource") || mentions("Invalid") || mentions("launch")) return Gate::kResource;
  if (mentions("orrect")) return Gate::kCorrectness;
  return Gate::kTiming;
}

ReplayTrace replay(const RecordedSpace& space, Strategy& strategy, std::size_t budget,
                   std::size_t window) {
  ReplayTrace trace;
  SeenSet seen(space);
  std::deque<Candidate> in_flight;  // oldest first
  double best_ms = std::numeric_limits<double>::infinity();
  bool exhausted = false;
  while (trace.best_ms.size() < budget) {
    while (!exhausted && trace.best_ms.size() + in_flight.size() < budget &&
           in_flight.size() < in_flight_at(trace.proposed, window)) {
      std::vector<Candidate> proposals = strategy.propose(1);
      if (proposals.size() > 1) throw Error(ExitCode::kBadInput, "too many proposals");
      exhausted = proposals.empty();
      if (exhausted) break;
      if (!seen.add(proposals.front())) {
        throw Error(ExitCode::kBadInput, "a candidate was proposed twice");
      }
      ++trace.proposed;
      in_flight.push_back(std::move(proposals.front()));
    }
    if (in_flight.empty()) break;
    const Observation observation = evaluate(space, in_flight.front());
    in_flight.pop_front();
    if (observation.time_us) best_ms = std::min(best_ms, *observation.time_us / 1e3);
    trace.best_ms.push_back(best_ms);
    trace.failed.push_back(!observation.time_us);
    strategy.observe({&observation, 1});
  }
  return trace;
}

RandomBaseline::RandomBaseline(const RecordedSpace& space)
    : times_(space.sorted_times_ms().begin(), space.sorted_times_ms().end()),
      failures_(space.rank_count() - times_.size()) {
  const double median = times_[times_.size() / 2];
  const double target = times_.front() + kCutoffShare * (median - times_.front());
  const std::size_t total = times_.size() + failures_;
  cutoff_ = 1;
  while (cutoff_ < total && time_ms(cutoff_) > target) ++cutoff_;
}

double RandomBaseline::time_ms(std::size_t evaluations) const {
  const auto n = static_cast<double>(times_.size() + failures_);
  const auto m = static_cast<double>(evaluations);
  const auto from_worst = static_cast<std::size_t>(std::round(m * (n + 1) / (m + 1)));
  const std::size_t total = times_.size() + failures_;
  const std::size_t from_best = total - std::min(from_worst, total);  // 0 is the optimum
  return times_[std::min(from_best, times_.size() - 1)];
}

double RandomBaseline::expected_fraction(std::size_t evaluations) const {
  // The best of n draws out of N without replacement has rank i with p(0) = n / N and
  // p(i + 1) = p(i) (N − i − n) / (N − i − 1).
  const auto total = static_cast<double>(times_.size() + failures_);
  const auto n = static_cast<double>(evaluations);
  double probability = std::min(1.0, n / total);
  double sum = 0;
  for (std::size_t i = 0; i < times_.size() && probability > 0; ++i) {
    sum += probability * times_.front() / times_[i];
    const double left = total - static_cast<double>(i) - 1;
    if (left <= 0) break;
    probability *= (left + 1 - n) / left;
  }
  return sum;
}

double fraction_of_optimum(const ReplayTrace& trace, const RandomBaseline& baseline,
                           std::size_t evaluations) {
  return baseline.optimum_ms() / best_at(trace, evaluations);
}

double methodology_score(const ReplayTrace& trace, const RandomBaseline& baseline) {
  double sum = 0;
  std::size_t points = 0;
  for (std::size_t i = 0; i < kScorePoints; ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(kScorePoints);
    const auto at = static_cast<std::size_t>(
        std::max(1.0, std::round(share * static_cast<double>(baseline.cutoff()))));
    const double random = baseline.time_ms(at);
    const double gap = random - baseline.optimum_ms();
    if (gap <= 0) continue;
    sum += (random - std::min(best_at(trace, at), baseline.worst_ms())) / gap;
    ++points;
  }
  return points == 0 ? 0 : sum / static_cast<double>(points);
}

}  // namespace evo
