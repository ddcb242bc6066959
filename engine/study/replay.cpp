#include "engine/study/replay.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "engine/core/error.hpp"
#include "engine/evolve/max_in_flight.hpp"
#include "engine/evolve/seen_set.hpp"

namespace evo {
namespace {

/// The evaluation budget (RandomBaseline::cutoff) is the number of evaluations after which the
/// expected best time of random search exceeds the optimum by at most this fraction of (median −
/// optimum).
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

namespace {

/// A running replay.
class Replay {
 public:
  Replay(const RecordedSpace& space, Strategy& strategy)
      : space_(space), strategy_(strategy), seen_(space) {}

  ReplayTrace run(std::size_t budget, std::size_t max_in_flight) {
    while (trace_.best_ms.size() < budget) {
      while (!exhausted_ && trace_.best_ms.size() + slots_.size() < budget &&
             slots_.size() < in_flight_at(started_, max_in_flight)) {
        start();
      }
      if (slots_.empty()) break;
      const Candidate candidate = std::move(slots_.front());
      slots_.pop_front();
      end(candidate);
    }
    return std::move(trace_);
  }

 private:
  void start() {
    const std::vector<Candidate> proposals = strategy_.propose(1);
    if (proposals.size() > 1) {
      throw Error(ExitCode::kBadInput,
                  "the strategy proposed several configurations; allowed here: one");
    }
    exhausted_ = proposals.empty();
    if (exhausted_) return;
    if (!seen_.add(proposals.front())) {
      throw Error(ExitCode::kBadInput, "the strategy proposed a configuration twice");
    }
    ++started_;
    slots_.push_back(proposals.front());
  }

  void end(const Candidate& candidate) {
    const Observation observation = evaluate(space_, candidate);
    if (observation.time_us) best_ms_ = std::min(best_ms_, *observation.time_us / 1e3);
    trace_.best_ms.push_back(best_ms_);
    trace_.failed.push_back(!observation.time_us);
    strategy_.observe({&observation, 1});
  }

  const RecordedSpace& space_;
  Strategy& strategy_;
  SeenSet seen_;
  ReplayTrace trace_;
  double best_ms_ = std::numeric_limits<double>::infinity();
  std::deque<Candidate> slots_;  ///< in flight, oldest first
  std::size_t started_ = 0;
  bool exhausted_ = false;
};

}  // namespace

ReplayTrace replay(const RecordedSpace& space, Strategy& strategy, std::size_t budget,
                   std::size_t max_in_flight) {
  return Replay(space, strategy).run(budget, max_in_flight);
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
  const std::size_t from_best = total - std::min(from_worst, total);  // 0: the optimum
  return times_[std::min(from_best, times_.size() - 1)];
}

double RandomBaseline::expected_fraction(std::size_t evaluations) const {
  // The best of n draws from N values without replacement has rank i with probability p(i): p(0) =
  // n / N and p(i + 1) = p(i) (N − i − n) / (N − i − 1).
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
