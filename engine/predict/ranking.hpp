#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace evo {

/// How well predicted times rank kernels, compared with measured times of the same kernels.
struct RankScore {
  std::size_t kernels = 0;
  std::size_t near = 0;      ///< number of kernels within twice the best time
  double spearman = 0;       ///< over all kernels
  double spearman_near = 0;  ///< spearman over the kernels within twice the best time
  double median_error = 0;   ///< median of |predicted / measured − 1|
  double kendall = 0;
  double kendall_near = 0;
  double loss = 0;  ///< how much slower the predicted winner is than the best, as a fraction
  /// The loss of the best kernel among the 8, 16 and 32 kernels with the lowest predicted times.
  std::array<double, 3> loss_of_shortlist{};
};

inline constexpr std::array<std::size_t, 3> kShortlists = {8, 16, 32};

/// Compares the times. Throws InputError without kernels, or if the lengths differ.
[[nodiscard]] RankScore rank_score(std::span<const double> measured,
                                   std::span<const double> predicted);

}  // namespace evo
