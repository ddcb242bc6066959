#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/core/candidate.hpp"

namespace evo {

/// What is claimed of a change of the winner.
enum class PairVerdict {
  kFaster,   ///< the winner with this change was faster by more than kSameTime
  kSlower,   ///< likewise
  kSame,     ///< it was as fast within kSameTime
  kUntried,  ///< the winner was not tried with this change: other pairs say nothing sure of it
};

/// "faster", "slower", "same" or "untried".
[[nodiscard]] const char* to_string(PairVerdict verdict);

/// Times of one kernel, each measured by itself, differ by as much as this (as a share).
inline constexpr double kSameTime = 0.02;

/// A factor of the time, as natural logarithms, over all pairs in which it was seen.
struct PairEffect {
  std::size_t pairs = 0;  ///< at least one
  double low = 0;         ///< of the pair in which it is smallest
  double middle = 0;      ///< median of the pairs
  double high = 0;
  std::optional<double> in_winner = {};  ///< of the pair whose other half is the winner

  /// Of the winner's own pair alone: where macros interact, pairs beside it may differ.
  [[nodiscard]] PairVerdict verdict() const;
  /// In the winner where that is known, else the median.
  [[nodiscard]] double best_known() const { return in_winner.value_or(middle); }
};

/// ln(factor) in per cent: +0.7 for 0.7 % slower.
[[nodiscard]] double log_percent(double log_factor);

/// Candidates that passed every gate, with ln of their times, and the winner among them.
///
/// A candidate is near the winner when at most kNearMacros macros differ and its time is at most
/// kNearTime times the winner's.
class NearbyPairs {
 public:
  static constexpr std::size_t kNearMacros = 2;
  static constexpr double kNearTime = 2;

  /// As many times as candidates. Copies of a configuration count once.
  NearbyPairs(std::span<const Candidate> candidates, std::span<const double> log_times,
              const Candidate& winner);

  /// The time with this value over the time with the winner's value, of every pair of candidates
  /// that differ in this macro only and whose half with the winner's value is near the winner.
  /// Nothing without such a pair.
  [[nodiscard]] std::optional<PairEffect> effect(std::size_t parameter, std::size_t value) const;

  /// Two values in place of the winner's that together do more or less than both alone.
  struct Square {
    std::size_t first_parameter = 0;
    std::size_t first_value = 0;
    std::size_t second_parameter = 0;
    std::size_t second_value = 0;
    PairEffect beyond;  ///< on top of both, over all squares of four candidates
  };

  /// Those whose squares agree, strongest first. Each square is four candidates that differ in
  /// these two macros only, the one with the winner's values near the winner.
  [[nodiscard]] std::vector<Square> squares() const;

 private:
  [[nodiscard]] std::optional<double> log_time(const Candidate& candidate) const;

  std::unordered_map<Candidate, double, CandidateHash> log_times_;
  std::vector<Candidate> near_;
  Candidate winner_;
};

}  // namespace evo
