#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo::ptx {

/// The results of executing all CTAs of a grid, or a sample of them.
struct ExecutedGrid {
  GridCounts counts;  ///< indices of the executed CTAs
  std::uint64_t ctas = 1;
  /// The executed CTA that represents each CTA of the grid; empty: the nearest executed CTA.
  std::function<std::uint64_t(std::uint64_t cta)> like = {};
  bool is_certain = false;  ///< CTAs that were not executed take no longer
  /// True: the order of arrival decides the work of a CTA, because it claims work or merges results
  /// of other CTAs. If so, all CTAs were executed, because the index of a CTA does not determine
  /// its work.
  bool by_arrival = false;
};

/// True if the numbers of warp instructions of the executed CTAs differ by more than a tenth, so
/// that one CTA cannot represent another.
[[nodiscard]] bool differ(const GridCounts& counts);

/// The kinds of CTAs of a grid, from the least to the most work, and where they run.
struct GridKinds {
  std::vector<CtaCounts> counts;  ///< sums over the executed CTAs of the kind
  std::vector<double> shares;     ///< number of CTAs of each kind in the grid
  LastSm last_sm;                 ///< if there are several kinds
};

/// Groups the CTAs by work. Models a device that assigns the CTAs in order to the first free of
/// `resident` places on each of `sms` SMs. If the order of arrival decides the kinds, CTAs of a
/// kind are spread evenly: their numbers on two SMs differ by at most one.
[[nodiscard]] GridKinds kinds_of_grid(const ExecutedGrid& grid, int sms, int resident);

}  // namespace evo::ptx
