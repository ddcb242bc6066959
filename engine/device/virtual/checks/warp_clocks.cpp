#include "engine/device/virtual/checks/warp_clocks.hpp"

#include <algorithm>
#include <utility>

#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {

void WarpClocks::reset(int warps) {
  const auto count = static_cast<std::size_t>(warps);
  clocks_.assign(count, VectorClock{});
  lane_clocks_.resize(count);
  orders_.resize(count);
  for (int w = 0; w < warps; ++w) meet(w);
}

void WarpClocks::meet(int warp) {
  orders_[static_cast<std::size_t>(warp)].met(next_time(warp));
  lane_clocks_[static_cast<std::size_t>(warp)].is_used = false;
}

void WarpClocks::meet(int warp, std::uint32_t lanes) {
  orders_[static_cast<std::size_t>(warp)].met(lanes, next_time(warp));
  LaneClocks& clocks = lane_clocks_[static_cast<std::size_t>(warp)];
  if (!clocks.is_used) return;
  VectorClock joined;
  for_lanes(lanes, [&](int lane) { joined.join(clocks.of[static_cast<std::size_t>(lane)]); });
  for_lanes(lanes, [&](int lane) { clocks.of[static_cast<std::size_t>(lane)] = joined; });
}

void WarpClocks::acquire(int warp, std::uint32_t lanes, std::uint32_t alive,
                         const VectorClock& released) {
  const auto w = static_cast<std::size_t>(warp);
  LaneClocks& clocks = lane_clocks_[w];
  const std::uint32_t before = released[w] + 1;
  const auto [mask, time] = released.some_lanes[w];
  if ((alive & ~lanes) == 0) {
    orders_[w].acquired_by_all(before, mask, time + 1);
    clocks_[w].join(released);
    if (!clocks.is_used) return;
    clocks.common.join(released);
    for (VectorClock& one : clocks.of) one.join(released);
    return;
  }
  orders_[w].acquired(lanes, before, mask, time + 1);
  if (common(warp).includes(released)) return;
  if (!std::exchange(clocks.is_used, true)) {
    clocks.common = clocks_[w];
    clocks.of.assign(kWarpSize, clocks_[w]);
  }
  clocks_[w].join(released);
  for_lanes(lanes, [&](int lane) { clocks.of[static_cast<std::size_t>(lane)].join(released); });
}

const VectorClock& WarpClocks::released(int warp, std::uint32_t lanes, std::uint32_t alive) {
  const auto w = static_cast<std::size_t>(warp);
  if ((alive & ~lanes) == 0) return clocks_[w];
  const std::uint32_t now = clocks_[w][w];
  released_ = {};
  for_lanes(lanes, [&](int lane) { released_.join(of_lane(warp, lane)); });
  released_[w] = orders_[w].known_to(lanes) - 1;
  released_.some_lanes[w] = {orders_[w].better_known_to(lanes), now};
  released_.has_some_lanes = true;
  return released_;
}

const VectorClock& WarpClocks::of_lane(int warp, int lane) const {
  const auto w = static_cast<std::size_t>(warp);
  const LaneClocks& clocks = lane_clocks_[w];
  // A lane of kWarpSize or more stands for several lanes.
  const bool is_one = clocks.is_used && lane < kWarpSize;
  return is_one ? clocks.of[static_cast<std::size_t>(lane)] : clocks_[w];
}

const VectorClock& WarpClocks::common(int warp) const {
  const auto w = static_cast<std::size_t>(warp);
  return lane_clocks_[w].is_used ? lane_clocks_[w].common : clocks_[w];
}

void WarpClocks::order_before(int warp, std::uint32_t lanes) {
  orders_[static_cast<std::size_t>(warp)].acquired(lanes, now(warp), 0, 0);
}

void WarpClocks::publish(int warp) {
  VectorClock& own = of(warp);
  for (std::size_t i = 0; i < kMaxWarps; ++i)
    own[i + kPublished] = std::max(own[i + kPublished], own[i]);
}

}  // namespace evo::ptx
