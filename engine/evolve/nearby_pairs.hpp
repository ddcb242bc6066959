#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/core/candidate.hpp"

namespace evo {

/// Whether a change makes the winner faster.
enum class PairVerdict {
  kFaster,   ///< the winner with this change was faster by more than kSameTime
  kSlower,   ///< the winner with this change was slower by more than kSameTime
  kSame,     ///< the winner with this change was equally fast within kSameTime
  kUntried,  ///< the winner with this change was not timed, and other pairs do not decide
};

/// "faster", "slower", "same" or "untried".
[[nodiscard]] const char* to_string(PairVerdict verdict);

/// Separate measurements of one kernel differ by up to this fraction.
inline constexpr double kSameTime = 0.02;

/// The natural logarithm of a factor of the time, over all pairs in which the factor was observed.
struct PairEffect {
  std::size_t pairs = 0;  ///< at least one
  double low = 0;         ///< smallest value among the pairs
  double middle = 0;      ///< median of the pairs
  double high = 0;
  std::optional<double> in_winner = {};  ///< value of the pair that contains the winner

  /// The verdict of the winner's own pair. Other pairs may differ if macros interact.
  [[nodiscard]] PairVerdict verdict() const;
  /// The value of the winner's own pair if known, otherwise the median.
  [[nodiscard]] double best_known() const { return in_winner.value_or(middle); }
};

/// Converts ln(factor) to percent: +0.7 for 0.7 % slower.
[[nodiscard]] double log_percent(double log_factor);

/// The candidates that passed all gates, with ln of their times, and the winner, which is one of
/// them.
///
/// A candidate is near the winner if at most kNearMacros macros differ and its time is at most
/// kNearTime times the winner's.
class NearbyPairs {
 public:
  static constexpr std::size_t kNearMacros = 2;
  static constexpr double kNearTime = 2;

  /// `log_times`: one for each candidate. Repeated configurations count once.
  NearbyPairs(std::span<const Candidate> candidates, std::span<const double> log_times,
              const Candidate& winner);

  /// The effect of `value`: the time with this value divided by the time with the winner's value.
  /// The effect covers all pairs of candidates that differ only in this parameter and whose member
  /// with the winner's value is near the winner. Nullopt if there is no pair.
  [[nodiscard]] std::optional<PairEffect> effect(std::size_t parameter, std::size_t value) const;

  /// Two values that replace the winner's values, and whose joint effect differs from the sum of
  /// their separate effects.
  struct Square {
    std::size_t first_parameter = 0;
    std::size_t first_value = 0;
    std::size_t second_parameter = 0;
    std::size_t second_value = 0;
    PairEffect beyond;  ///< in addition to both effects, over all squares of four candidates
  };

  /// Interactions of two values whose squares all agree, strongest first. A square is four
  /// candidates that differ only in these two macros, and of which the one with the winner's values
  /// is near the winner.
  [[nodiscard]] std::vector<Square> squares() const;

 private:
  [[nodiscard]] std::optional<double> log_time(const Candidate& candidate) const;

  std::unordered_map<Candidate, double, CandidateHash> log_times_;
  std::vector<Candidate> near_;
  Candidate winner_;
};

}  // namespace evo
