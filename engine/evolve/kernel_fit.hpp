#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/evolve/kernel.hpp"

namespace evo {

/// The prior of the hyperparameters of a covariance kernel.
struct KernelPrior {
  KernelShape shape = {.relevance = 0.6, .length = 1.0};
  Smoothness smoothness = Smoothness::kSlopes;
  double noise = 0.01;            ///< variance of the noise, for targets with variance 1
  double relevance_spread = 1.5;  ///< standard deviation of the log-odds of a relevance
  double length_spread = 1.0;     ///< standard deviation of ln length
  double noise_spread = 1.0;      ///< standard deviation of ln noise
  std::size_t max_points = 96;    ///< largest number of observations that a fit uses
};

/// A covariance kernel with fitted hyperparameters, and the fitted variance of the noise.
struct FittedKernel {
  Kernel kernel;
  double noise;
};

/// The kernel whose hyperparameters and noise are those of the prior.
[[nodiscard]] FittedKernel prior_kernel(const std::vector<KernelDimension>& dimensions,
                                        const KernelPrior& prior);

/// Improves the hyperparameters of `start` by coordinate ascent: moves each relevance, each length
/// (of an ordered parameter with more than two values) and the noise by at most two steps in one
/// direction, while a step increases the posterior density. If improved_kernel() is called after
/// every few new observations, the kernel stays fitted at low cost. `points`: encoded candidates;
/// `targets`: the target of each point.
[[nodiscard]] FittedKernel improved_kernel(FittedKernel start, const KernelPrior& prior,
                                           std::span<const std::uint16_t> points,
                                           std::span<const float> targets);

}  // namespace evo
