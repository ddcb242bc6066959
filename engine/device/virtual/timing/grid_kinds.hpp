#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo::ptx {

/// The results of executing all CTAs of a grid, or of a sample of them.
struct ExecutedGrid {
  GridCounts counts;       ///< of the executed CTAs
  std::uint64_t ctas = 1;  ///< number of CTAs of the grid
  /// Returns the executed CTA that represents a CTA of the grid. If `like` is empty, the executed
  /// CTA with the nearest index represents a CTA.
  std::function<std::uint64_t(std::uint64_t cta)> like = {};
  bool is_certain = false;  ///< each CTA that was not executed takes as long as its representative
  /// True: the order in which CTAs start decides how much work each of them does, because a CTA
  /// claims work from memory or merges results of other CTAs; all CTAs of the grid were then
  /// executed.
  bool by_arrival = false;
};

/// True if the work (GridCounts::work) of the executed CTAs differs by more than a tenth, so that
/// one CTA cannot represent another.
[[nodiscard]] bool differ(const GridCounts& counts);

/// The CTAs of a grid, grouped into kinds of about equal work, from the least to the most work;
/// also the CTAs that run on the SM that finishes last.
struct GridKinds {
  std::vector<CtaCounts> counts;  ///< sums over the executed CTAs of the kind
  std::vector<double> shares;     ///< the fraction of the grid's CTAs that each kind contains
  LastSm last_sm;                 ///< only set if differ() is true for the executed CTAs
};

/// Groups the CTAs of a grid by their work (GridCounts::work). To find the SM that finishes last,
/// assigns the CTAs in order to `sms` SMs. Each SM can hold `resident` CTAs at once, and a CTA goes
/// to the SM that first has room for it. If ExecutedGrid::by_arrival is true, spreads the CTAs of
/// each kind evenly instead: the numbers of CTAs of a kind on any two SMs differ by at most one.
[[nodiscard]] GridKinds kinds_of_grid(const ExecutedGrid& grid, int sms, int resident);

}  // namespace evo::ptx
