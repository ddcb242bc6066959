#include "engine/evolve/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

/// Lower limit of variances, which rounding in single precision could otherwise make negative.
constexpr float kSmallestVariance = 1e-6F;

/// Number of columns that are solved at a time, so that they fit into the second-level cache.
constexpr std::size_t kTile = 64;

// Makes the compiler emit a copy of a function for each vector width of x86; the copy for the
// host's CPU is chosen when a program starts. All copies give the same bits, because no sum runs
// across a vector and no multiplication is fused with an addition.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EVO_FOR_EACH_VECTOR_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EVO_FOR_EACH_VECTOR_WIDTH
#endif

/// Computes y += a x for n elements. Vectorisation does not change the result, because the elements
/// are independent.
inline void add_scaled(float a, const float* __restrict x, float* __restrict y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

/// Right-looking Cholesky factorisation K = UᵀU. `u` (n × n) holds K and then U in its upper
/// triangle. Replaces `y` by U⁻ᵀy.
EVO_FOR_EACH_VECTOR_WIDTH void factorise(float* u, float* y, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    float* row = u + k * n;
    const float root = std::sqrt(std::max(row[k], kSmallestVariance));
    const float inverse = 1 / root;
    row[k] = root;
    for (std::size_t j = k + 1; j < n; ++j) row[j] *= inverse;
    y[k] *= inverse;
    for (std::size_t i = k + 1; i < n; ++i) add_scaled(-row[i], row + i, u + i * n + i, n - i);
    add_scaled(-y[k], row + k + 1, y + k + 1, n - k - 1);
  }
}

/// Adjacent columns of a row-major matrix: their part of the first row, the row stride, and the
/// number of columns.
struct Columns {
  float* first;
  std::size_t stride;
  std::size_t count;
};

/// Multiplies the columns by U⁻ᵀ in place and adds their contributions to `mean` and `variance`.
EVO_FOR_EACH_VECTOR_WIDTH void whiten(const float* u, const float* whitened, std::size_t n,
                                      const Columns& columns, float* mean, float* variance) {
  for (std::size_t k = 0; k < n; ++k) {
    float* row = columns.first + k * columns.stride;
    const float inverse = 1 / u[k * n + k];
    for (std::size_t j = 0; j < columns.count; ++j) row[j] *= inverse;
    for (std::size_t i = k + 1; i < n; ++i) {
      add_scaled(-u[k * n + i], row, columns.first + i * columns.stride, columns.count);
    }
    add_scaled(whitened[k], row, mean, columns.count);
    for (std::size_t j = 0; j < columns.count; ++j) variance[j] -= row[j] * row[j];
  }
}

}  // namespace

GaussianProcess::GaussianProcess(const Kernel& kernel, std::vector<std::uint16_t> points,
                                 std::span<const float> targets, double noise)
    : kernel_(&kernel),
      points_(std::move(points)),
      size_(targets.size()),
      noise_(noise),
      factor_(targets.size() * targets.size()),
      whitened_(targets.begin(), targets.end()) {
  const std::size_t n = size_;
  const std::size_t d = kernel.dimensions().size();
  std::vector<float>& u = factor_;
  for (std::size_t i = 0; i < n; ++i) {
    kernel.row({points_.data() + i * d, d}, {points_.data() + i * d, (n - i) * d},
               {u.data() + i * n + i, n - i});
    u[i * n + i] += static_cast<float>(noise);
  }
  factorise(u.data(), whitened_.data(), n);
}

double GaussianProcess::log_likelihood() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    sum -= 0.5 * static_cast<double>(whitened_[i]) * static_cast<double>(whitened_[i]) +
           portable_log(static_cast<double>(factor_[i * size_ + i]));
  }
  return sum;
}

PoolPosterior::PoolPosterior(const GaussianProcess& process, std::vector<std::uint16_t> pool)
    : process_(&process), pool_(std::move(pool)) {
  const std::size_t n = process.size_;
  const std::size_t d = process.kernel_->dimensions().size();
  const std::size_t m = pool_.size() / d;
  mean_.assign(m, 0);
  variance_.assign(m, 1);
  std::vector<float> covariance(n * m);
  for (std::size_t i = 0; i < n; ++i) {
    process.kernel_->row({process.points_.data() + i * d, d}, pool_,
                         {covariance.data() + i * m, m});
  }
  solved_ = std::move(covariance);
  for (std::size_t begin = 0; begin < m; begin += kTile) {
    whiten(process.factor_.data(), process.whitened_.data(), n,
           {solved_.data() + begin, m, std::min(kTile, m - begin)}, mean_.data() + begin,
           variance_.data() + begin);
  }
  for (float& variance : variance_) variance = std::max(variance, kSmallestVariance);
}

void PoolPosterior::choose(std::size_t index) {
  const std::size_t d = process_->kernel_->dimensions().size();
  const std::size_t m = mean_.size();
  std::vector<float> row(m);
  process_->kernel_->row({pool_.data() + index * d, d}, pool_, row);
  for (std::size_t i = 0; i < solved_.size() / m; ++i) {
    const float* solved = solved_.data() + i * m;
    add_scaled(-solved[index], solved, row.data(), m);
  }
  const float scale = 1 / std::sqrt(variance_[index] + static_cast<float>(process_->noise_));
  for (std::size_t j = 0; j < m; ++j) {
    row[j] *= scale;
    variance_[j] = std::max(variance_[j] - row[j] * row[j], kSmallestVariance);
  }
  solved_.insert(solved_.end(), row.begin(), row.end());
}

}  // namespace evo
