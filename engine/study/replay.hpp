#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/evolve/strategy.hpp"
#include "engine/study/recorded_space.hpp"

namespace evo {

/// The course of one search on a recorded space.
struct ReplayTrace {
  /// Best time after each evaluation, in ms; infinite while no candidate has run.
  std::vector<double> best_ms;
  /// Whether each evaluation failed.
  std::vector<bool> failed;
};

/// The gate at which a run would reject a configuration with the recorded failure `failure`
/// ("CompilationFailedConfig", "timeout", …).
[[nodiscard]] Gate gate_of_failure(const std::string& failure);

/// Runs `strategy` on the recording as a real run would, with up to `max_in_flight` candidates in
/// flight (see in_flight_at()), until `budget` candidates are evaluated or the strategy has no
/// further proposal. A failed configuration counts as an evaluation, and the strategy is told which
/// gate rejected it. Throws Error if the strategy proposes an invalid or repeated candidate.
[[nodiscard]] ReplayTrace replay(const RecordedSpace& space, Strategy& strategy, std::size_t budget,
                                 std::size_t max_in_flight);

/// The expected result of random search without replacement, and the evaluation budget, according
/// to "A methodology for comparing optimization algorithms for auto-tuning", Willemsen et al. 2024.
class RandomBaseline {
 public:
  explicit RandomBaseline(const RecordedSpace& space);

  /// The expected best time in ms after M = `evaluations` (≥ 1) evaluations, which is the time at
  /// the 1-based index round(M (N + 1) / (M + 1)) in the list of all N times, sorted from longest
  /// to shortest (a failure counts as the longest time of a candidate that ran).
  [[nodiscard]] double time_ms(std::size_t evaluations) const;
  /// Number of evaluations until time_ms() reaches optimum + 5 % of (median − optimum); `median` is
  /// the median time of the candidates that ran.
  [[nodiscard]] std::size_t cutoff() const { return cutoff_; }
  /// The exact expectation of the ratio optimum / best time after `evaluations` evaluations; the
  /// ratio is 0 while all evaluations failed.
  [[nodiscard]] double expected_fraction(std::size_t evaluations) const;
  [[nodiscard]] double optimum_ms() const { return times_.front(); }
  [[nodiscard]] double worst_ms() const { return times_.back(); }

 private:
  std::vector<double> times_;  ///< times of the candidates that ran, in ascending order
  std::size_t failures_ = 0;
  std::size_t cutoff_ = 0;
};

/// The ratio optimum / best time after `evaluations` evaluations of a search; 0 while no candidate
/// has run. If the search ended earlier because the space was exhausted, the last ratio is used.
[[nodiscard]] double fraction_of_optimum(const ReplayTrace& trace, const RandomBaseline& baseline,
                                         std::size_t evaluations);

/// Number of evaluation counts, between 1 and RandomBaseline::cutoff(), over which
/// methodology_score() averages.
inline constexpr std::size_t kScorePoints = 50;

/// The mean of (S_rand − F) / (S_rand − S_opt) over kScorePoints equidistant evaluation counts,
/// where F is the best time of the search (at most worst_ms()), S_rand that of random search, and
/// S_opt the optimum. 1 means that the first evaluation found the optimum; 0 means a result like
/// that of random search. Evaluation counts at which random search has reached the optimum are left
/// out. The search must have evaluated RandomBaseline::cutoff() candidates or the whole space.
[[nodiscard]] double methodology_score(const ReplayTrace& trace, const RandomBaseline& baseline);

}  // namespace evo
