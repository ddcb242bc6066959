#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo::ptx {

/// The known properties of a grid of which all or some CTAs were executed.
struct ExecutedGrid {
  GridCounts counts;  ///< indices of the executed CTAs
  std::uint64_t ctas = 1;
  /// For each CTA of the grid, the executed CTA that represents it; empty: the nearest one does.
  std::function<std::uint64_t(std::uint64_t cta)> like = {};
  bool is_certain = false;  ///< no CTA that was not executed takes longer
  /// The order of arrival decides what a CTA does (it claims work, or merges results of others).
  /// The index of a CTA then does not tell its work, so all CTAs were executed.
  bool by_arrival = false;
};

/// Whether the executed CTAs differ by more than a tenth in their warp instructions, so that one
/// cannot represent another.
[[nodiscard]] bool differ(const GridCounts& counts);

/// The kinds of CTAs of a grid, from the least to the most work, and where they run.
struct GridKinds {
  std::vector<CtaCounts> counts;  ///< sums over the executed CTAs of the kind
  std::vector<double> shares;     ///< number of the grid's CTAs of each kind
  LastSm last_sm;                 ///< if there are several kinds
};

/// Models a device that assigns the CTAs in order, each to the first free of `resident` places on
/// one of `sms` SMs. Kinds decided by arrival are spread evenly: the numbers of CTAs of one kind on
/// two SMs differ by at most one.
[[nodiscard]] GridKinds kinds_of_grid(const ExecutedGrid& grid, int sms, int resident);

}  // namespace evo::ptx
