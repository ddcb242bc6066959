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
  KernelPrior prior = {.shape = {.relevance = 0.5, .length = 0.5}, .noise = 0.05};
  double penalty = 2;          ///< what certain failure costs at first, in deviations of ln time;
  double penalty_rise = 1.5;   ///< each failure multiplies it by this,
  double penalty_fall = 0.98;  ///<   each success by that: in balance 5 % of evaluations fail
  double least_penalty = 0.5;
  double most_penalty = 20;
  /// It looks at so many of the first observations, which are spread out, and of the latest.
  std::size_t first = 32;
  std::size_t latest = 320;
};

/// The probability that a candidate fails: Gaussian process regression of the outcome (1 or 0),
/// read as a probit. Apart from the model of times, with a kernel of its own, as a limit of the
/// device is crossed by parameters that may not matter for the time at all.
class FailureModel {
 public:
  FailureModel(const std::vector<KernelDimension>& dimensions, const FailureSettings& settings);

  /// `point`: encoded.
  void add(std::span<const std::uint16_t> point, bool failed);

  /// 0 … 1 for each of `pool` (encoded), all 0 before the first failure and all 1 before the first
  /// success.
  [[nodiscard]] std::vector<float> probability(std::span<const std::uint16_t> pool);

 private:
  /// Takes in what was added since the last time; improves the kernel when it was enough.
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
  std::size_t learned_ = 0;  ///< outcomes that the process knows
  std::optional<GaussianProcess> process_;
  double rate_ = 0;
  double deviation_ = 1;
};

}  // namespace evo
