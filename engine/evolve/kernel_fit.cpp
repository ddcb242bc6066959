#include "engine/evolve/kernel_fit.hpp"

#include <algorithm>
#include <cmath>

#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

constexpr double kOddsStep = 1.0;  ///< step in the log-odds of a relevance
constexpr double kMostOdds = 4.0;  ///< relevances stay in 0.018 … 0.982
constexpr double kLengthFactor = 1.8;
constexpr double kNoiseFactor = 2.0;
constexpr double kLeastNoise = 1e-3;
constexpr double kMostNoise = 0.3;
constexpr int kSteps = 2;  ///< steps in one direction within one round

double log_odds(double share) { return portable_log(share / (1 - share)); }

double squared_deviation(double value, double spread) { return value * value / (spread * spread); }

/// Tries changes of the hyperparameters of a covariance kernel, and keeps the changes that increase
/// the posterior density.
class Ascent {
 public:
  Ascent(FittedKernel start, const KernelPrior& prior, std::span<const std::uint16_t> points,
         std::span<const float> targets)
      : fitted_(std::move(start)),
        prior_(prior),
        points_(points),
        targets_(targets),
        best_(density()) {}

  void climb_relevance(std::size_t dimension) {
    climb([&](int direction) {
      KernelShape shape = fitted_.kernel.shapes()[dimension];
      const double odds = log_odds(shape.relevance) + direction * kOddsStep;
      if (std::abs(odds) > kMostOdds) return false;
      shape.relevance = 1 / (1 + portable_exp(-odds));
      return accepts(dimension, shape);
    });
  }

  void climb_length(std::size_t dimension) {
    climb([&](int direction) {
      KernelShape shape = fitted_.kernel.shapes()[dimension];
      shape.length *= direction > 0 ? kLengthFactor : 1 / kLengthFactor;
      return accepts(dimension, shape);
    });
  }

  void climb_noise() {
    climb([&](int direction) {
      const double old = fitted_.noise;
      fitted_.noise = std::clamp(old * (direction > 0 ? kNoiseFactor : 1 / kNoiseFactor),
                                 kLeastNoise, kMostNoise);
      if (is_better()) return true;
      fitted_.noise = old;
      return false;
    });
  }

  [[nodiscard]] FittedKernel result() && { return std::move(fitted_); }

 private:
  /// Takes up to kSteps steps in one direction while `step(direction)` returns true, that is, while
  /// the step increases the posterior density. Tries the second direction only if the first fails.
  template <typename Step>
  void climb(Step step) {
    for (const int direction : {-1, +1}) {
      int taken = 0;
      while (taken < kSteps && step(direction)) ++taken;
      if (taken > 0) return;
    }
  }

  bool accepts(std::size_t dimension, const KernelShape& shape) {
    const KernelShape old = fitted_.kernel.shapes()[dimension];
    fitted_.kernel.set_shape(dimension, shape);
    if (is_better()) return true;
    fitted_.kernel.set_shape(dimension, old);
    return false;
  }

  bool is_better() {
    const double value = density();
    if (value <= best_) return false;
    best_ = value;
    return true;
  }

  /// ln of the posterior density of the hyperparameters, up to a constant.
  [[nodiscard]] double density() const {
    double penalty =
        squared_deviation(portable_log(fitted_.noise / prior_.noise), prior_.noise_spread);
    for (const KernelShape& shape : fitted_.kernel.shapes()) {
      penalty += squared_deviation(log_odds(shape.relevance) - log_odds(prior_.shape.relevance),
                                   prior_.relevance_spread);
      penalty +=
          squared_deviation(portable_log(shape.length / prior_.shape.length), prior_.length_spread);
    }
    const GaussianProcess process(fitted_.kernel, {points_.begin(), points_.end()}, targets_,
                                  fitted_.noise);
    return process.log_likelihood() - 0.5 * penalty;
  }

  FittedKernel fitted_;
  const KernelPrior& prior_;
  std::span<const std::uint16_t> points_;
  std::span<const float> targets_;
  double best_;
};

}  // namespace

FittedKernel prior_kernel(const std::vector<KernelDimension>& dimensions,
                          const KernelPrior& prior) {
  const std::vector<KernelShape> shapes(dimensions.size(), prior.shape);
  return {Kernel(dimensions, shapes, prior.smoothness), prior.noise};
}

FittedKernel improved_kernel(FittedKernel start, const KernelPrior& prior,
                             std::span<const std::uint16_t> points,
                             std::span<const float> targets) {
  const std::vector<KernelDimension> dimensions = start.kernel.dimensions();
  Ascent ascent(std::move(start), prior, points, targets);
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    ascent.climb_relevance(d);
    if (dimensions[d].ordered && dimensions[d].values > 2) ascent.climb_length(d);
  }
  ascent.climb_noise();
  return std::move(ascent).result();
}

}  // namespace evo
