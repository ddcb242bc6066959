#include "engine/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evo {

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  const double centre = mean(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Timing summarize(std::vector<double> samples_us, TimeKind kind) {
  std::sort(samples_us.begin(), samples_us.end());
  Timing timing;
  timing.kind = kind;
  timing.p50_us = quantile(samples_us, 0.50);
  timing.p90_us = quantile(samples_us, 0.90);
  timing.p99_us = quantile(samples_us, 0.99);
  timing.mean_us = mean(samples_us);
  timing.std_us = standard_deviation(samples_us);
  timing.cv = timing.mean_us > 0 ? timing.std_us / timing.mean_us : 0.0;
  timing.samples = static_cast<std::int64_t>(samples_us.size());
  return timing;
}

Interval median_interval(std::span<const double> sorted, double z) {
  const auto n = static_cast<double>(sorted.size());
  const double half = z * std::sqrt(n) / 2.0;
  const double low = std::floor((n - 1.0) / 2.0 - half);
  const double high = std::ceil((n - 1.0) / 2.0 + half);
  const auto index = [&](double rank) {
    return static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1.0));
  };
  return {sorted[index(low)], sorted[index(high)]};
}

}  // namespace evo
