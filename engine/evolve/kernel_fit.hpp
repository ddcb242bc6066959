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
  std::size_t max_points = 96;    ///< limit on the observations in a fit
};

/// A covariance kernel and the variance of the noise.
struct FittedKernel {
  Kernel kernel;
  double noise;
};

/// The kernel with the hyperparameters of the prior.
[[nodiscard]] FittedKernel prior_kernel(const std::vector<KernelDimension>& dimensions,
                                        const KernelPrior& prior);

/// Makes one round of coordinate ascent of the posterior density from `start`: each relevance, each
/// length and the noise take a step up or down if the step improves the density. Repeated calls
/// follow new observations at low cost. `points`: encoded candidates; `targets`: one for each
/// point.
[[nodiscard]] FittedKernel improved_kernel(FittedKernel start, const KernelPrior& prior,
                                           std::span<const std::uint16_t> points,
                                           std::span<const float> targets);

}  // namespace evo
