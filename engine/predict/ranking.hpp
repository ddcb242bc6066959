#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace evo {

/// Statistics that say how well predicted times rank kernels, compared with measured times of the
/// same kernels.
struct RankScore {
  std::size_t kernels = 0;
  std::size_t near = 0;      ///< number of kernels within twice the best time
  double spearman = 0;       ///< over all kernels
  double spearman_near = 0;  ///< spearman over the kernels within twice the best time
  double median_error = 0;   ///< median of |predicted / measured − 1|
  double kendall = 0;
  double kendall_near = 0;
  double loss = 0;  ///< how much slower the predicted winner is than the best, as a fraction
  /// How much slower the best of the 8, 16 and 32 kernels with the lowest predicted times is than
  /// the best kernel, as a fraction.
  std::array<double, 3> loss_of_shortlist{};
};

inline constexpr std::array<std::size_t, 3> kShortlists = {8, 16, 32};

/// Compares the times. Throws InputError if there are no kernels, or if `measured` and `predicted`
/// have different lengths.
[[nodiscard]] RankScore rank_score(std::span<const double> measured,
                                   std::span<const double> predicted);

}  // namespace evo
