#include "engine/evolve/additive_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/statistics.hpp"

namespace evo {
namespace {

/// The prior variances of an effect that are tried, relative to the variance of the noise.
constexpr double kRatios[] = {0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000};
/// Lower limit of the noise's standard deviation, in units of ln time.
constexpr double kSmallestNoise = 1e-3;

/// A symmetric positive definite matrix, factored in place as L Lᵀ.
class Cholesky {
 public:
  explicit Cholesky(std::vector<double> matrix, std::size_t n) : factor_(std::move(matrix)), n_(n) {
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t i = j; i < n_; ++i) {
        double sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
      }
    }
  }

  [[nodiscard]] double log_determinant() const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += 2 * std::log(factor_[i * n_ + i]);
    return sum;
  }

  [[nodiscard]] std::vector<double> solve(std::vector<double> x) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= factor_[i * n_ + k] * x[k];
      x[i] /= factor_[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) x[i] -= factor_[k * n_ + i] * x[k];
      x[i] /= factor_[i * n_ + i];
    }
    return x;
  }

 private:
  double& at(std::size_t i, std::size_t j) { return factor_[i * n_ + j]; }

  std::vector<double> factor_;
  std::size_t n_;
};

/// The normal equations of the regression, and their solution for a given ratio of the effects'
/// prior variance to the noise's variance.
struct NormalEquations {
  std::size_t columns = 0;
  std::size_t rows = 0;
  std::vector<double> gram;    ///< Xᵀ X
  std::vector<double> moment;  ///< Xᵀ y
  double squares = 0;          ///< yᵀ y

  [[nodiscard]] Cholesky factor(double ratio) const {
    std::vector<double> matrix = gram;
    for (std::size_t c = 0; c < columns; ++c) matrix[c * columns + c] += 1 / ratio;
    return Cholesky(std::move(matrix), columns);
  }

  /// The maximum-likelihood variance of the noise if the effects have the values `effects`.
  [[nodiscard]] double noise(const std::vector<double>& effects) const {
    double explained = 0;
    for (std::size_t c = 0; c < columns; ++c) explained += moment[c] * effects[c];
    return std::max((squares - explained) / static_cast<double>(rows),
                    kSmallestNoise * kSmallestNoise);
  }

  [[nodiscard]] double log_evidence(double ratio) const {
    const Cholesky system = factor(ratio);
    const double variance = noise(system.solve(moment));
    return -0.5 * (static_cast<double>(rows) * std::log(variance) + system.log_determinant() +
                   static_cast<double>(columns) * std::log(ratio));
  }
};

}  // namespace

AdditiveModel::AdditiveModel(const CandidateSpace& space, std::span<const Candidate> candidates,
                             std::span<const double> targets)
    : mean_(evo::mean(targets)) {
  NormalEquations equations;
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    first_column_.push_back(equations.columns);
    equations.columns += space.value_count(p);
  }
  const std::size_t n = equations.columns;
  equations.rows = targets.size();
  equations.gram.assign(n * n, 0);
  equations.moment.assign(n, 0);
  for (std::size_t r = 0; r < targets.size(); ++r) {
    const std::vector<std::uint16_t>& choice = candidates[r].choice;
    const double y = targets[r] - mean_;
    equations.squares += y * y;
    for (std::size_t p = 0; p < choice.size(); ++p) {
      equations.moment[column(p, choice[p])] += y;
      for (std::size_t q = 0; q < choice.size(); ++q) {
        equations.gram[column(p, choice[p]) * n + column(q, choice[q])] += 1;
      }
    }
  }
  double best_ratio = kRatios[0];
  double best_evidence = -std::numeric_limits<double>::infinity();
  for (const double ratio : kRatios) {
    const double evidence = equations.log_evidence(ratio);
    if (evidence > best_evidence) {
      best_evidence = evidence;
      best_ratio = ratio;
    }
  }
  effects_ = equations.factor(best_ratio).solve(equations.moment);
}

double AdditiveModel::effect(std::size_t parameter, std::size_t value) const {
  return effects_[column(parameter, value)];
}

double AdditiveModel::predict(const Candidate& candidate) const {
  double sum = mean_;
  for (std::size_t p = 0; p < candidate.choice.size(); ++p) {
    sum += effect(p, candidate.choice[p]);
  }
  return sum;
}

}  // namespace evo
