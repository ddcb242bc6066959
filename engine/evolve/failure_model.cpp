#include "engine/evolve/failure_model.hpp"

#include <algorithm>

#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

/// The power of a product kernel is the product of the powers of its tables: 1 − r + r e^(−x / l)
/// has no simple power, so relevance and length are turned to about the same effect.
KernelShape sharpened(const KernelShape& shape, double power) {
  return {1 - portable_exp(power * portable_log(1 - shape.relevance)), shape.length / power};
}

}  // namespace

FailureModel::FailureModel(const std::vector<KernelDimension>& dimensions,
                           const FailureSettings& settings)
    : width_(dimensions.size()),
      settings_(settings),
      kernel_(dimensions, std::vector<KernelShape>(dimensions.size(),
                                                   sharpened(settings.shape, settings.power))) {}

void FailureModel::add(std::span<const std::uint16_t> point, bool failed) {
  Kind& kind = failed ? failed_ : ran_;
  ++kind.count;
  kind.points.insert(kind.points.end(), point.begin(), point.end());
  if (kind.points.size() > settings_.memory * width_) {
    kind.points.erase(kind.points.begin(),
                      kind.points.begin() + static_cast<std::ptrdiff_t>(width_));
  }
}

std::vector<float> FailureModel::weight(const Kind& kind,
                                        std::span<const std::uint16_t> pool) const {
  std::vector<float> sum(pool.size() / width_, 0.0F);
  std::vector<float> row(sum.size());
  for (std::size_t at = 0; at < kind.points.size(); at += width_) {
    kernel_.row({kind.points.data() + at, width_}, pool, row);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += row[j];
  }
  // Forgotten observations still count, as if they were spread like the remembered ones.
  if (!kind.points.empty()) {
    const auto remembered = static_cast<double>(kind.points.size() / width_);
    const auto scale = static_cast<float>(static_cast<double>(kind.count) / remembered);
    for (float& value : sum) value *= scale;
  }
  return sum;
}

std::vector<float> FailureModel::probability(std::span<const std::uint16_t> pool) const {
  std::vector<float> probability(pool.size() / width_, 0.0F);
  if (failed_.count == 0) return probability;
  const std::vector<float> bad = weight(failed_, pool);
  const std::vector<float> good = weight(ran_, pool);
  const auto prior = static_cast<float>(settings_.prior);
  const auto rate = static_cast<float>(static_cast<double>(failed_.count) /
                                       static_cast<double>(failed_.count + ran_.count));
  for (std::size_t j = 0; j < probability.size(); ++j) {
    probability[j] = (bad[j] + prior * rate) / (bad[j] + good[j] + prior);
  }
  return probability;
}

}  // namespace evo
