#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/evolve/strategy.hpp"
#include "engine/study/recorded_space.hpp"

namespace evo {

/// One search on a recorded space.
struct ReplayTrace {
  /// Best time after each evaluation, in ms; infinite until something ran.
  std::vector<double> best_ms;
  /// Whether each evaluation failed.
  std::vector<bool> failed;
};

/// The gate corresponding to a recorded failure, from its name ("CompilationFailedConfig",
/// "timeout"…).
[[nodiscard]] Gate gate_of_failure(const std::string& failure);

/// Runs `strategy` against the recording as in a real run, with up to `window` candidates in flight
/// (see in_flight_at()), until `budget` evaluations or the end of the space. A failed configuration
/// costs an evaluation and returns its gate. Throws Error if the strategy proposes an invalid or
/// repeated candidate.
[[nodiscard]] ReplayTrace replay(const RecordedSpace& space, Strategy& strategy, std::size_t budget,
                                 std::size_t window);

/// The expected result of random search without replacement, and the methodology's budget. "A
/// methodology for comparing optimization algorithms for auto-tuning", Willemsen et al. 2024.
class RandomBaseline {
 public:
  explicit RandomBaseline(const RecordedSpace& space);

  /// Best time after `evaluations` (≥ 1), in ms: of N values sorted from worst to best (failures
  /// count as worst), the one at the 1-based index round(M (N + 1) / (M + 1)).
  [[nodiscard]] double time_ms(std::size_t evaluations) const;
  /// Evaluations until time_ms() reaches optimum + 5 % of (median − optimum).
  [[nodiscard]] std::size_t cutoff() const { return cutoff_; }
  /// Exact expectation of optimum / best after `evaluations`; 0 until something ran.
  [[nodiscard]] double expected_fraction(std::size_t evaluations) const;
  [[nodiscard]] double optimum_ms() const { return times_.front(); }
  [[nodiscard]] double worst_ms() const { return times_.back(); }

 private:
  std::vector<double> times_;  ///< times of the candidates that ran, in ascending order
  std::size_t failures_ = 0;
  std::size_t cutoff_ = 0;
};

/// optimum / best after `evaluations` of a trace; 0 until something ran. A search that ended early
/// (the space was exhausted) keeps its last value.
[[nodiscard]] double fraction_of_optimum(const ReplayTrace& trace, const RandomBaseline& baseline,
                                         std::size_t evaluations);

/// Number of points of the methodology's score between 1 and the cut-off.
inline constexpr std::size_t kScorePoints = 50;

/// Mean over kScorePoints equidistant points of (S_rand − F) / (S_rand − S_opt): 1 means the
/// optimum from the start, 0 means random search. The trace must reach the cut-off (or the end of
/// the space).
[[nodiscard]] double methodology_score(const ReplayTrace& trace, const RandomBaseline& baseline);

}  // namespace evo
