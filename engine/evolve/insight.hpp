#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/evolve/nearby_pairs.hpp"
#include "engine/evolve/strategy.hpp"

namespace evo {

/// Statistics of one value of one parameter.
struct ValueInsight {
  std::size_t parameter = 0;
  std::size_t value = 0;
  std::size_t runs = 0;  ///< candidates with it that passed every gate
  /// other candidates with it, by the gate that they failed
  std::array<std::size_t, kGates> failures = {};
  /// Its effect in place of the winner's value, from pairs near the winner. Nullopt for the
  /// winner's value and for a value that was not tried there.
  std::optional<PairEffect> effect = {};
  /// Whether the space allows the winner with only this value changed.
  bool is_allowed_in_winner = false;
  /// The gate that the winner with only this value changed failed.
  std::optional<Gate> failed_in_winner = {};

  [[nodiscard]] std::size_t failed() const;
  /// The gate that stopped most of its candidates. Only if failed() > 0.
  [[nodiscard]] Gate worst_gate() const;
};

/// One parameter.
struct KnobInsight {
  std::size_t parameter = 0;
  std::size_t best_value = 0;  ///< the winner's
  /// The share of the variance of ln time, 0 … 1, that its values explain in an additive model of
  /// all candidates that ran.
  double importance = 0;
  /// The same among candidates whose time is at most NearbyPairs::kNearTime times the winner's.
  /// Nullopt if these are too few.
  std::optional<double> near_importance = {};
  std::vector<ValueInsight> values;  ///< the values seen, in the space's order
};

/// Two values that together are faster or slower than their separate effects suggest.
struct InteractionInsight {
  std::array<std::size_t, 2> parameter = {};
  std::array<std::size_t, 2> value = {};
  PairEffect beyond;  ///< in addition to both effects; each pair is a square of four candidates
};

/// Findings of a run, for users. Effects and interactions come from candidates near the winner that
/// differ in nothing else; nothing is extrapolated. Importance comes from additive models of ln
/// time.
struct Insight {
  std::size_t evaluations = 0;
  std::size_t failed = 0;
  std::optional<Candidate> best = {};  ///< the winner
  double best_us = 0;
  double explained = 0;       ///< share of the variance of ln time that the additive model explains
  std::size_t near_runs = 0;  ///< candidates within kNearTime of the winner
  std::optional<double> near_explained = {};  ///< the same as `explained`, among these
  std::vector<KnobInsight> knobs;             ///< most important near the winner first
  std::vector<InteractionInsight> interactions;
  std::vector<ValueInsight> only_failed;  ///< values tried at least twice that never passed
  /// Valid negatives: values that were tried in the winner and made it slower, or not faster by
  /// more than kSameTime; slowest first. They spare the next user from trying.
  std::vector<ValueInsight> negatives;
};

/// `observations`: all of a run, in any order. `winner`: one of them that ran; nullopt: the
/// fastest.
[[nodiscard]] Insight learn(const CandidateSpace& space, std::span<const Observation> observations,
                            const std::optional<Candidate>& winner = {});

/// Text of several lines with names and values.
[[nodiscard]] std::string insight_text(const CandidateSpace& space, const Insight& insight);

/// One JSON object in one line.
[[nodiscard]] std::string insight_json(const CandidateSpace& space, const Insight& insight);

}  // namespace evo
