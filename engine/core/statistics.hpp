#pragma once

#include <span>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

/// The q-quantile (0…1) of `sorted`, linear between neighbours (Hyndman & Fan type 7, NumPy's
/// default). `sorted` is ascending and not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// Mean of `values` (not empty).
[[nodiscard]] double mean(std::span<const double> values);

/// Sample standard deviation (n − 1); 0 for fewer than two values.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// Summary of the times of one launch, in microseconds. `samples_us` is not empty.
[[nodiscard]] Timing summarize(std::vector<double> samples_us, TimeKind kind);

/// A confidence interval.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Distribution-free confidence interval of the median by order statistics (normal approximation of
/// the binomial). `sorted` is ascending and not empty; `z` is 1.96 for 95 %.
[[nodiscard]] Interval median_interval(std::span<const double> sorted, double z = 1.96);

}  // namespace evo
