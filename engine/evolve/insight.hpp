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

/// What is known of one value of one parameter.
struct ValueInsight {
  std::size_t parameter = 0;
  std::size_t value = 0;
  std::size_t runs = 0;                           ///< candidates with it that passed every gate
  std::array<std::size_t, kGates> failures = {};  ///< others, by Gate
  /// In place of the winner's value, in pairs near the winner; nothing where it was not tried
  /// there, and for the winner's value.
  std::optional<PairEffect> effect = {};
  /// The space allows the winner with this value alone changed.
  bool is_allowed_in_winner = false;
  /// The gate at which the winner with this value alone changed failed.
  std::optional<Gate> failed_in_winner = {};

  [[nodiscard]] std::size_t failed() const;
  /// The gate that stopped most of them. Only when failed() > 0.
  [[nodiscard]] Gate worst_gate() const;
};

/// One parameter.
struct KnobInsight {
  std::size_t parameter = 0;
  std::size_t best_value = 0;  ///< the winner's
  /// Share of the variance of ln time that its values explain in an additive model, 0 … 1: among
  /// all candidates that ran.
  double importance = 0;
  /// The same among those whose time is at most NearbyPairs::kNearTime times the winner's. Nothing
  /// where these are too few.
  std::optional<double> near_importance = {};
  std::vector<ValueInsight> values;  ///< those seen, in the space's order
};

/// Two values that together are faster or slower than both alone say.
struct InteractionInsight {
  std::array<std::size_t, 2> parameter = {};
  std::array<std::size_t, 2> value = {};
  PairEffect beyond;  ///< on top of both; its pairs are squares of four candidates
};

/// What a run has learned, for people. Effects and interactions are those of candidates near the
/// winner that differ in nothing else; nothing is extrapolated. Importance comes from additive
/// models of ln time.
struct Insight {
  std::size_t evaluations = 0;
  std::size_t failed = 0;
  std::optional<Candidate> best = {};  ///< the winner
  double best_us = 0;
  double explained = 0;       ///< share of the variance of ln time that the additive model explains
  std::size_t near_runs = 0;  ///< candidates within kNearTime of the winner
  std::optional<double> near_explained = {};  ///< as `explained`, among these
  std::vector<KnobInsight> knobs;             ///< most important near the winner first
  std::vector<InteractionInsight> interactions;
  std::vector<ValueInsight> only_failed;  ///< tried at least twice and never passed
  /// Valid negatives: values that were tried in the winner and made it slower, or no faster than
  /// within kSameTime; slowest first. Knowing them saves the next person from trying.
  std::vector<ValueInsight> negatives;
};

/// `observations`: all of a run, in any order. `winner`: one of them that ran; nothing for the
/// fastest.
[[nodiscard]] Insight learn(const CandidateSpace& space, std::span<const Observation> observations,
                            const std::optional<Candidate>& winner = {});

/// Several lines with names and values.
[[nodiscard]] std::string insight_text(const CandidateSpace& space, const Insight& insight);

/// One JSON object in one line.
[[nodiscard]] std::string insight_json(const CandidateSpace& space, const Insight& insight);

}  // namespace evo
