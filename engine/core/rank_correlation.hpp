#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace evo {

/// Indices of the values, ascending; equal ones in the order in which they stand.
[[nodiscard]] std::vector<std::size_t> order_of(std::span<const double> values);

/// Spearman's rank correlation; equal values share the mean of their ranks. Not a number where one
/// side is all equal. Both of one length.
[[nodiscard]] double spearman(std::span<const double> a, std::span<const double> b);

/// Kendall's rank correlation (tau-b: equal values count for neither side). Not a number where one
/// side is all equal. Both of one length.
[[nodiscard]] double kendall(std::span<const double> a, std::span<const double> b);

}  // namespace evo
