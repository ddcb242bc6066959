#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/core/candidate.hpp"

namespace evo {

/// Says whether a change of one macro makes the winner faster.
enum class PairVerdict {
  kFaster,   ///< the winner with this change was faster by more than kSameTime
  kSlower,   ///< the winner with this change was slower by more than kSameTime
  kSame,     ///< the winner with this change was equally fast within kSameTime
  kUntried,  ///< the winner with this change was not timed
};

/// Returns "faster", "slower", "same" or "untried".
[[nodiscard]] const char* to_string(PairVerdict verdict);

/// Separate measurements of the same kernel may differ by this fraction.
inline constexpr double kSameTime = 0.02;

/// The factor by which a change of macros multiplies the time of a kernel, over pairs of candidates
/// that differ only by this change. Factors are stored as natural logarithms. A PairEffect of a
/// Square summarises squares of four candidates instead of pairs.
struct PairEffect {
  std::size_t pairs = 0;  ///< at least one
  double low = 0;         ///< smallest value among the pairs
  double middle = 0;      ///< median of the pairs
  double high = 0;
  std::optional<double> in_winner = {};  ///< value of the pair that contains the winner

  /// Compares the winner with the candidate that differs from it only by this change. If macros
  /// interact, the verdicts of other pairs may differ.
  [[nodiscard]] PairVerdict verdict() const;
};

/// Converts the logarithm of a factor to percent: ln(1.007) to +0.7.
[[nodiscard]] double log_percent(double log_factor);

/// Compares candidates near the winner of a run. Contains the candidates that passed all gates,
/// with ln of their times, and the winner, which is one of them.
///
/// A candidate is near the winner if it differs from the winner in at most kNearMacros macros and
/// its time is at most kNearTime times the winner's time.
class NearbyPairs {
 public:
  static constexpr std::size_t kNearMacros = 2;
  static constexpr double kNearTime = 2;

  /// `log_times`: ln of the time of each candidate. If a configuration is repeated, its first time
  /// counts.
  NearbyPairs(std::span<const Candidate> candidates, std::span<const double> log_times,
              const Candidate& winner);

  /// The effect of `value`: the time with this value divided by the time with the winner's value,
  /// over all pairs of candidates that differ only in this parameter and whose member with the
  /// winner's value is near the winner; nullopt if there is no such pair.
  [[nodiscard]] std::optional<PairEffect> effect(std::size_t parameter, std::size_t value) const;

  /// Values of two macros whose joint effect, if they replace the winner's values, differs from the
  /// sum of their separate effects.
  struct Square {
    std::size_t first_parameter = 0;
    std::size_t first_value = 0;
    std::size_t second_parameter = 0;
    std::size_t second_value = 0;
    PairEffect beyond;  ///< in addition to both effects, over all squares of four candidates
  };

  /// The interactions of two values, strongest first. A square is four candidates that differ only
  /// in two macros; the candidate in which both macros have the winner's values is near the winner.
  /// An interaction is returned only if all its squares show a joint effect of the same sign, and
  /// the absolute median effect exceeds 2 · kSameTime.
  [[nodiscard]] std::vector<Square> squares() const;

 private:
  [[nodiscard]] std::optional<double> log_time(const Candidate& candidate) const;

  std::unordered_map<Candidate, double, CandidateHash> log_times_;
  std::vector<Candidate> near_;
  Candidate winner_;
};

}  // namespace evo
