#pragma once

#include <span>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

/// The q-quantile (0…1) of `sorted`, interpolated linearly (Hyndman & Fan type 7, NumPy's default).
/// `sorted` is ascending and not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// The mean of `values`, which is not empty.
[[nodiscard]] double mean(std::span<const double> values);

/// The sample standard deviation (n − 1); 0 for fewer than two values.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// Summarises the times of launches, in microseconds. `samples_us` is not empty.
[[nodiscard]] Timing summarize(std::vector<double> samples_us, TimeKind kind);

/// A confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// A distribution-free confidence interval of the median by order statistics (normal approximation
/// of the binomial). `sorted` is ascending and not empty; `z` is 1.96 for 95 %.
[[nodiscard]] Interval median_interval(std::span<const double> sorted, double z = 1.96);

}  // namespace evo
