#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/evolve/kernel.hpp"

namespace evo {

/// Gaussian process regression on encoded candidates (zero mean, unit prior variance).
class GaussianProcess {
 public:
  /// `points`: n encoded candidates; `targets`: n values; `noise`: variance of the noise, > 0. The
  /// constructor takes O(n³) operations.
  GaussianProcess(const Kernel& kernel, std::vector<std::uint16_t> points,
                  std::span<const float> targets, double noise);

  /// ln p(targets | covariance kernel, noise), up to a constant.
  [[nodiscard]] double log_likelihood() const;

 private:
  friend class PoolPosterior;

  const Kernel* kernel_;
  std::vector<std::uint16_t> points_;
  std::size_t size_;
  double noise_;
  std::vector<float> factor_;    ///< U of K + noise I = Uᵀ U, row-major, with covariance matrix K
  std::vector<float> whitened_;  ///< U⁻ᵀ targets
};

/// The predicted means and variances of a pool of candidates, updated when a candidate is chosen
/// for evaluation. The chosen candidate is assumed to have its predicted mean (the kriging
/// believer), so a choice changes only variances.
class PoolPosterior {
 public:
  /// Takes O(n² m) operations for n observations and m candidates in the pool.
  PoolPosterior(const GaussianProcess& process, std::vector<std::uint16_t> pool);

  [[nodiscard]] std::span<const float> mean() const { return mean_; }
  [[nodiscard]] std::span<const float> variance() const { return variance_; }
  /// Marks the candidate `index` of the pool as chosen, in O(n m) operations.
  void choose(std::size_t index);

 private:
  const GaussianProcess* process_;
  std::vector<std::uint16_t> pool_;
  std::vector<float> mean_;
  std::vector<float> variance_;
  std::vector<float> solved_;  ///< U⁻ᵀ covariances, followed by a row for each chosen candidate
};

}  // namespace evo
