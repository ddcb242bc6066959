#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/evolve/strategy.hpp"

namespace evo {

/// An effect on the time as a factor's natural logarithm, with half the width of its 95 % interval.
struct LogEffect {
  double value = 0;
  double half_width = 0;

  /// In per cent of the time: +0.7 for 0.7 % slower.
  [[nodiscard]] double percent() const;
  /// Half the width of the interval in per cent, to first order.
  [[nodiscard]] double percent_half_width() const;
};

/// What is known of one value of one parameter.
struct ValueInsight {
  std::size_t parameter = 0;
  std::size_t value = 0;
  std::size_t runs = 0;                           ///< candidates with it that passed every gate
  std::array<std::size_t, kGates> failures = {};  ///< others, by Gate
  /// Against the best candidate's value, all else equal; nothing when it never ran or is that
  /// value.
  std::optional<LogEffect> effect = {};

  [[nodiscard]] std::size_t failed() const;
  /// The gate that stopped most of them. Only when failed() > 0.
  [[nodiscard]] Gate worst_gate() const;
};

/// One parameter.
struct KnobInsight {
  std::size_t parameter = 0;
  std::size_t best_value = 0;  ///< of the best candidate
  double importance = 0;  ///< share of the variance of ln time that its values explain, 0 … 1
  std::vector<ValueInsight> values;  ///< those seen, in the space's order
};

/// Two values that together are faster or slower than the sum of their effects says.
struct InteractionInsight {
  std::array<std::size_t, 2> parameter = {};
  std::array<std::size_t, 2> value = {};
  std::size_t runs = 0;
  LogEffect effect;  ///< on top of both
};

/// What a run has learned, for people. Effects come from an additive model of ln time, so they hold
/// on average over what was evaluated; interactions say where that is wrong.
struct Insight {
  std::size_t evaluations = 0;
  std::size_t failed = 0;
  std::optional<Candidate> best = {};
  double best_us = 0;
  double explained = 0;  ///< share of the variance of ln time that the additive model explains
  std::vector<KnobInsight> knobs;                ///< most important first
  std::vector<InteractionInsight> interactions;  ///< the strongest that stand out of the noise
  std::vector<ValueInsight> only_failed;         ///< tried at least twice and never passed
  /// Valid negatives: values that ran and are surely (95 %) slower than the best one, or surely
  /// make no difference of a per cent; strongest first. Knowing them saves the next person from
  /// trying.
  std::vector<ValueInsight> negatives;
};

/// `observations`: all of a run, in any order.
[[nodiscard]] Insight learn(const CandidateSpace& space, std::span<const Observation> observations);

/// Several lines with names and values.
[[nodiscard]] std::string insight_text(const CandidateSpace& space, const Insight& insight);

/// One JSON object in one line.
[[nodiscard]] std::string insight_json(const CandidateSpace& space, const Insight& insight);

}  // namespace evo
