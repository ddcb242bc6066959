#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace evo {

/// Indices that sort the values in ascending order. The sort is stable.
[[nodiscard]] std::vector<std::size_t> order_of(std::span<const double> values);

/// Spearman's rank correlation. Equal values get the mean of their ranks. The result is NaN if all
/// values of `a` or all values of `b` are equal. `a` and `b` have the same length.
[[nodiscard]] double spearman(std::span<const double> a, std::span<const double> b);

/// Kendall's rank correlation tau-b, whose formula accounts for equal values. The result is NaN if
/// all values of `a` or all values of `b` are equal. `a` and `b` have the same length.
[[nodiscard]] double kendall(std::span<const double> a, std::span<const double> b);

}  // namespace evo
