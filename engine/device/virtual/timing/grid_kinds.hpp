#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/predict/launch_profile.hpp"

namespace evo::ptx {

/// What is known of a grid of which all CTAs or some were executed.
struct ExecutedGrid {
  GridCounts counts;  ///< of those
  std::uint64_t ctas = 1;
  /// The executed CTA that does what another one of the grid does; empty: the nearest one does.
  std::function<std::uint64_t(std::uint64_t cta)> like = {};
  bool is_certain = false;  ///< nothing that was not executed may take longer
  /// Who comes first decides what a CTA does (it claims work, or merges what others left): its
  /// place says nothing, and all were executed.
  bool by_arrival = false;
};

/// Whether the executed CTAs differ so much in their warp instructions that one cannot stand for
/// another: by more than a tenth.
[[nodiscard]] bool differ(const GridCounts& counts);

/// The kinds of CTAs that a grid has, from the least to the most work, and where they run.
struct GridKinds {
  std::vector<CtaCounts> counts;  ///< sums over those that were executed
  std::vector<double> shares;     ///< of the grid's CTAs
  LastSm last_sm;                 ///< of several kinds
};

/// A device hands out the CTAs in their order, each to the first of `resident` places on one of
/// `sms` that is free. Kinds that arrival decides are spread evenly: an SM that gets no more CTAs
/// than another one gets at most one more of a kind.
[[nodiscard]] GridKinds kinds_of_grid(const ExecutedGrid& grid, int sms, int resident);

}  // namespace evo::ptx
