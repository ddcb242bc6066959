#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace evo {

/// How far predicted times can be trusted to rank, against measured ones of the same kernels.
struct RankScore {
  std::size_t kernels = 0;
  std::size_t near = 0;      ///< of them within twice the best
  double spearman = 0;       ///< over all
  double spearman_near = 0;  ///< over those within twice the best
  double median_error = 0;   ///< of |predicted / measured − 1|
  double kendall = 0;
  double kendall_near = 0;
  double loss = 0;  ///< how much slower the one predicted fastest is than the best
  /// The same of the best of the 8, 16 and 32 predicted fastest.
  std::array<double, 3> loss_of_shortlist{};
};

inline constexpr std::array<std::size_t, 3> kShortlists = {8, 16, 32};

/// Throws InputError without kernels, or when the lengths differ.
[[nodiscard]] RankScore rank_score(std::span<const double> measured,
                                   std::span<const double> predicted);

}  // namespace evo
