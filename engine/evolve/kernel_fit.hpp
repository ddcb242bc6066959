#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/evolve/kernel.hpp"

namespace evo {

/// The prior of a kernel's hyperparameters.
struct KernelPrior {
  KernelShape shape = {.relevance = 0.6, .length = 1.0};
  Smoothness smoothness = Smoothness::kSlopes;
  double noise = 0.01;            ///< variance, for targets with variance 1
  double relevance_spread = 1.5;  ///< standard deviation of the log-odds of a relevance
  double length_spread = 1.0;     ///< standard deviation of ln length
  double noise_spread = 1.0;      ///< standard deviation of ln noise
  std::size_t max_points = 96;    ///< limit of observations in a fit
};

/// A kernel and the variance of the noise.
struct FittedKernel {
  Kernel kernel;
  double noise;
};

/// The prior's kernel.
[[nodiscard]] FittedKernel prior_kernel(const std::vector<KernelDimension>& dimensions,
                                        const KernelPrior& prior);

/// One round of coordinate ascent of the posterior density from `start`: each relevance, each
/// length and the noise take a step up or down if that explains the targets better. Repeated rounds
/// follow new observations at low cost. `points`: encoded; `targets`: one for each.
[[nodiscard]] FittedKernel improved_kernel(FittedKernel start, const KernelPrior& prior,
                                           std::span<const std::uint16_t> points,
                                           std::span<const float> targets);

}  // namespace evo
