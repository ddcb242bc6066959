#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/kernel_fit.hpp"

namespace evo {

struct FailureSettings {
  /// The covariance kernel allows jumps between neighbouring values, because a candidate fails as
  /// soon as it exceeds a device limit, however slightly.
  KernelPrior prior = {
      .shape = {.relevance = 0.5, .length = 0.5}, .smoothness = Smoothness::kJumps, .noise = 0.05};
  /// the initial penalty of a candidate that is certain to fail, in standard deviations of ln time
  double penalty = 2;
  double penalty_rise = 1.5;   ///< multiplies the penalty after each failure
  double penalty_fall = 0.98;  ///< after each success; at 5 % failures, the penalty is steady
  double least_penalty = 0.5;
  double most_penalty = 20;
  /// The model is trained on the first `first` observations, which include the strategy's initial
  /// candidates (spread over the space), and on the last `latest` observations.
  std::size_t first = 32;
  std::size_t latest = 320;
};

/// Estimates the probability that a candidate fails, by Gaussian process regression of the outcome
/// (1: failed, 0: passed). The prediction is converted to a probability as in a probit model. The
/// failure model is separate from the model of times and has its own covariance kernel, because a
/// parameter that does not affect the time may decide whether a device limit is exceeded.
class FailureModel {
 public:
  FailureModel(const std::vector<KernelDimension>& dimensions, const FailureSettings& settings);

  /// Adds an outcome. `point`: the encoded candidate.
  void add(std::span<const std::uint16_t> point, bool failed);

  /// The probability of failure, 0 … 1, for each candidate of `pool` (encoded, see Encoding). All
  /// probabilities are 0 before the first failure, and 1 before the first success.
  [[nodiscard]] std::vector<float> probability(std::span<const std::uint16_t> pool);

 private:
  /// Trains the model on the observations so far. Fits the covariance kernel again if there are
  /// enough new observations.
  void learn();
  struct TrainingSet {
    std::vector<std::uint16_t> points;
    std::vector<float> targets;  ///< (outcome − rate) / deviation
    double rate = 0;
    double deviation = 1;
  };
  [[nodiscard]] TrainingSet training_set(std::size_t first, std::size_t latest) const;

  std::size_t width_;
  FailureSettings settings_;
  FittedKernel fitted_;
  std::vector<std::uint16_t> points_;
  std::vector<bool> outcomes_;
  std::size_t failures_ = 0;
  double next_fit_ = 0;
  std::size_t learned_ = 0;  ///< number of outcomes when the process was trained last
  std::optional<GaussianProcess> process_;
  double rate_ = 0;
  double deviation_ = 1;
};

}  // namespace evo
