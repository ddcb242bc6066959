#pragma once

#include <cstddef>
#include <span>

namespace evo {

/// Spearman's rank correlation; equal values share the mean of their ranks. Not a number where one
/// side is all equal. Both of one length.
[[nodiscard]] double spearman(std::span<const double> a, std::span<const double> b);

/// How far predicted times can be trusted to rank, against measured ones of the same kernels.
struct RankScore {
  std::size_t kernels = 0;
  std::size_t near = 0;      ///< of them within twice the best
  double spearman = 0;       ///< over all
  double spearman_near = 0;  ///< over those within twice the best
  double median_error = 0;   ///< of |predicted / measured − 1|
  double loss = 0;           ///< how much slower the one predicted fastest is than the best
  double loss_of_16 = 0;     ///< the same of the best of the 16 predicted fastest
};

/// Throws InputError without kernels, or when the lengths differ.
[[nodiscard]] RankScore rank_score(std::span<const double> measured,
                                   std::span<const double> predicted);

}  // namespace evo
