#include "engine/evolve/prediction_error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

/// Fewer errors say nothing about a space.
constexpr std::size_t kFewestErrors = 8;
/// The model is of the last ones.
constexpr std::size_t kMostErrors = 160;
/// The kernel is improved again when there are so many times more errors.
constexpr double kErrorFitGrowth = 1.25;
/// A variance of errors below it is taken for none.
constexpr double kSmallestErrorVariance = 1e-8;

}  // namespace

PredictionError::PredictionError(const CandidateSpace& space)
    : encoding_(space), fitted_(prior_kernel(encoding_.dimensions(), KernelPrior{})) {}

void PredictionError::learn(const Candidate& candidate, double predicted_us, double measured_us) {
  encoding_.append(candidate, points_);
  errors_.push_back(portable_log(measured_us / predicted_us));
  if (errors_.size() <= kMostErrors) return;
  errors_.erase(errors_.begin());
  points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(encoding_.size()));
}

std::vector<double> PredictionError::expected(std::span<const Candidate> candidates) {
  std::vector<double> result(candidates.size(), 0);
  if (errors_.size() < kFewestErrors || candidates.empty() || encoding_.size() == 0) return result;
  const auto n = static_cast<double>(errors_.size());
  const double mean = std::accumulate(errors_.begin(), errors_.end(), 0.0) / n;
  double squares = 0;
  for (const double error : errors_) squares += (error - mean) * (error - mean);
  const double deviation = std::sqrt(std::max(squares / n, kSmallestErrorVariance));
  std::vector<float> targets;
  for (const double error : errors_) {
    targets.push_back(static_cast<float>((error - mean) / deviation));
  }
  if (n >= next_fit_) {
    next_fit_ = n * kErrorFitGrowth;
    const std::size_t most = KernelPrior{}.max_points;
    const std::size_t skipped = targets.size() - std::min(targets.size(), most);
    fitted_ = improved_kernel(std::move(fitted_), KernelPrior{},
                              std::span(points_).subspan(skipped * encoding_.size()),
                              std::span(targets).subspan(skipped));
  }
  const GaussianProcess process(fitted_.kernel, points_, targets, fitted_.noise);
  std::vector<std::uint16_t> pool;
  for (const Candidate& candidate : candidates) encoding_.append(candidate, pool);
  const PoolPosterior posterior(process, std::move(pool));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = mean + deviation * static_cast<double>(posterior.mean()[i]);
  }
  return result;
}

}  // namespace evo
