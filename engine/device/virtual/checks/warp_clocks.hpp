#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/virtual/checks/lane_order.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"

namespace evo::ptx {

/// The vector clocks of the warps of one CTA and, as far as they differ, of the lanes of a warp.
/// Threads of one warp are ordered by .sync instructions that they execute together. If only some
/// lanes of a warp release (arrive at an mbarrier, store a flag), the accesses of its other lanes
/// are not released; if only some lanes acquire (wait for an mbarrier, read a flag), the accesses
/// of the other lanes are not ordered after the release.
class WarpClocks {
 public:
  /// Sets all clocks to the start of a CTA.
  void reset(int warps);

  /// The times of all accesses that are ordered before the current instruction of at least one
  /// lane.
  [[nodiscard]] VectorClock& of(int warp) { return clocks_[static_cast<std::size_t>(warp)]; }
  [[nodiscard]] const VectorClock& of(int warp) const {
    return clocks_[static_cast<std::size_t>(warp)];
  }
  /// The times of all accesses that are ordered before the current instruction of `lane`; from
  /// kWarpSize on: of(warp).
  [[nodiscard]] const VectorClock& of_lane(int warp, int lane) const;
  /// The times of accesses that are ordered before the current instruction of every lane.
  [[nodiscard]] const VectorClock& common(int warp) const;
  /// The time of the next accesses of the warp.
  [[nodiscard]] std::uint32_t now(int warp) const {
    return of(warp)[static_cast<std::size_t>(warp)];
  }
  [[nodiscard]] const LaneOrder& order(int warp) const {
    return orders_[static_cast<std::size_t>(warp)];
  }

  /// Gives the next accesses of the warp a later time. Does not order the warp's lanes.
  void tick(int warp) { (void)next_time(warp); }
  /// Orders all previous accesses of the warp before its next accesses.
  void meet(int warp);
  /// Orders all previous accesses by `lanes` of the warp before the next accesses by these lanes.
  void meet(int warp, std::uint32_t lanes);
  /// Orders the accesses that `released` includes before the next accesses by `lanes`. `alive`: the
  /// lanes of the warp that have not exited.
  void acquire(int warp, std::uint32_t lanes, std::uint32_t alive, const VectorClock& released);
  /// Orders the next accesses by `lanes` after all accesses that the warp made before its current
  /// time.
  void order_before(int warp, std::uint32_t lanes);
  /// The clock that a release by `lanes` gives to acquiring threads. The reference is valid until
  /// the next call of a function of this object.
  [[nodiscard]] const VectorClock& released(int warp, std::uint32_t lanes, std::uint32_t alive);
  /// Records a fence of GPU scope, which publishes all previous accesses of the warp to other CTAs.
  void publish(int warp);

 private:
  /// The clocks of a warp's lanes since some lanes, but not all, acquired a release.
  struct LaneClocks {
    bool is_used = false;  ///< false: all lanes have the clock of the warp
    VectorClock common;
    std::vector<VectorClock> of;  ///< one per lane; empty before the first use
  };

  /// Increments the time of a warp in its vector clock and returns the new time.
  std::uint32_t next_time(int warp) { return ++of(warp)[static_cast<std::size_t>(warp)]; }

  std::vector<VectorClock> clocks_;      ///< one element per warp
  std::vector<LaneClocks> lane_clocks_;  ///< one element per warp
  std::vector<LaneOrder> orders_;        ///< order among the lanes of each warp
  VectorClock released_;
};

}  // namespace evo::ptx
