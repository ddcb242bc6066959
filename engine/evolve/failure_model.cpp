#include "engine/evolve/failure_model.hpp"

#include <cmath>

#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

/// The covariance kernel is fitted again when the number of observations has grown by this factor.
constexpr double kFitGrowth = 1.25;
/// The logistic function of 1.702 z approximates the normal distribution function of z with an
/// error below 0.01 (Haley 1952).
constexpr double kLogisticScale = 1.702;

}  // namespace

FailureModel::FailureModel(const std::vector<KernelDimension>& dimensions,
                           const FailureSettings& settings)
    : width_(dimensions.size()),
      settings_(settings),
      fitted_(prior_kernel(dimensions, settings.prior)) {}

void FailureModel::add(std::span<const std::uint16_t> point, bool failed) {
  points_.insert(points_.end(), point.begin(), point.end());
  outcomes_.push_back(failed);
  failures_ += failed ? 1 : 0;
}

FailureModel::TrainingSet FailureModel::training_set(std::size_t first, std::size_t latest) const {
  TrainingSet set;
  const std::size_t n = outcomes_.size();
  set.rate = static_cast<double>(failures_) / static_cast<double>(n);
  set.deviation = std::sqrt(set.rate * (1 - set.rate));
  for (std::size_t i = 0; i < n; ++i) {
    if (i >= first && i + latest < n) continue;
    const auto begin = points_.begin() + static_cast<std::ptrdiff_t>(i * width_);
    set.points.insert(set.points.end(), begin, begin + static_cast<std::ptrdiff_t>(width_));
    set.targets.push_back(
        static_cast<float>(((outcomes_[i] ? 1.0 : 0.0) - set.rate) / set.deviation));
  }
  return set;
}

void FailureModel::learn() {
  const std::size_t n = outcomes_.size();
  if (failures_ == 0 || failures_ == n || n == learned_) return;
  learned_ = n;
  if (static_cast<double>(n) >= next_fit_) {
    next_fit_ = static_cast<double>(n) * kFitGrowth;
    const std::size_t half = settings_.prior.max_points / 2;
    const TrainingSet set = training_set(half, half);
    process_.reset();  // the process refers to the kernel, which changes now
    fitted_ = improved_kernel(std::move(fitted_), settings_.prior, set.points, set.targets);
  }
  TrainingSet set = training_set(settings_.first, settings_.latest);
  rate_ = set.rate;
  deviation_ = set.deviation;
  process_.emplace(fitted_.kernel, std::move(set.points), set.targets, fitted_.noise);
}

std::vector<float> FailureModel::probability(std::span<const std::uint16_t> pool) {
  const std::size_t m = pool.size() / width_;
  if (failures_ == 0) return std::vector<float>(m, 0.0F);
  if (failures_ == outcomes_.size()) return std::vector<float>(m, 1.0F);
  learn();
  const PoolPosterior posterior(*process_, {pool.begin(), pool.end()});
  std::vector<float> probability(m);
  for (std::size_t i = 0; i < m; ++i) {
    const double latent = rate_ - 0.5 + deviation_ * static_cast<double>(posterior.mean()[i]);
    const double spread =
        deviation_ * std::sqrt(static_cast<double>(posterior.variance()[i]) + fitted_.noise);
    const double z = latent / spread;
    probability[i] = static_cast<float>(1 / (1 + portable_exp(-kLogisticScale * z)));
  }
  return probability;
}

}  // namespace evo
