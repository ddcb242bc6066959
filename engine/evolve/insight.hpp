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

/// Statistics of all evaluated candidates with one value of one parameter.
struct ValueInsight {
  std::size_t parameter = 0;
  std::size_t value = 0;
  std::size_t runs = 0;  ///< candidates with this value that passed all gates
  /// number of rejected candidates with this value, by the gate that they failed
  std::array<std::size_t, kGates> failures = {};
  /// How the time changes if this value replaces the winner's value, from pairs of candidates near
  /// the winner. Nullopt for the winner's own value, and for a value that was not tried near the
  /// winner.
  std::optional<PairEffect> effect = {};
  /// Whether the space allows a copy of the winner in which only this value differs.
  bool is_allowed_in_winner = false;
  /// The gate that rejected the copy of the winner in which only this value differs; nullopt if
  /// that copy was not rejected.
  std::optional<Gate> failed_in_winner = {};

  [[nodiscard]] std::size_t failed() const;
};

/// Statistics of one parameter.
struct KnobInsight {
  std::size_t parameter = 0;
  std::size_t best_value = 0;  ///< the winner's value
  /// The share of the variance of ln time, 0 … 1, that this parameter's values explain in an
  /// additive model of all candidates that passed all gates.
  double importance = 0;
  /// The importance among candidates whose time is at most NearbyPairs::kNearTime times the
  /// winner's time; nullopt if there are fewer than 20 such candidates.
  std::optional<double> near_importance = {};
  std::vector<ValueInsight> values;  ///< the values that candidates had, in the space's order
};

/// Two values whose joint effect on the time differs from the sum of their separate effects.
struct InteractionInsight {
  std::array<std::size_t, 2> parameter = {};
  std::array<std::size_t, 2> value = {};
  PairEffect beyond;  ///< joint effect minus the sum; `pairs` counts squares of four candidates
};

/// The findings of a run about its macros, for users. Effects and interactions come from timed
/// candidates that differ only in the compared values, one of which is near the winner
/// (NearbyPairs). Importance comes from additive models of ln time.
struct Insight {
  std::size_t evaluations = 0;
  std::size_t failed = 0;
  std::optional<Candidate> best = {};  ///< the winner; nullopt if no candidate passed all gates
  double best_us = 0;
  double explained = 0;       ///< share of the variance of ln time that the additive model explains
  std::size_t near_runs = 0;  ///< candidates that took at most kNearTime times the winner's time
  std::optional<double> near_explained = {};  ///< `explained`, among these candidates
  std::vector<KnobInsight> knobs;             ///< largest near_importance (or importance) first
  std::vector<InteractionInsight> interactions;
  std::vector<ValueInsight> only_failed;  ///< tried at least twice, without a success
  /// Values that users need not try again, because each of them, in place of the winner's value,
  /// made the winner slower, or faster by at most kSameTime; slowest first.
  std::vector<ValueInsight> negatives;
};

/// Computes the findings of a run. `observations`: all observations of the run, in any order.
/// `winner`: a candidate that passed all gates; if nullopt, the fastest candidate.
[[nodiscard]] Insight learn(const CandidateSpace& space, std::span<const Observation> observations,
                            const std::optional<Candidate>& winner = {});

/// The insight as text of several lines, for users.
[[nodiscard]] std::string insight_text(const CandidateSpace& space, const Insight& insight);

/// The insight as a JSON object in one line.
[[nodiscard]] std::string insight_json(const CandidateSpace& space, const Insight& insight);

}  // namespace evo
