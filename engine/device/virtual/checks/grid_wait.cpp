#include "engine/device/virtual/checks/grid_wait.hpp"

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {

void GridWait::reset(int warps) {
  first_ = {};
  lanes_.assign(static_cast<std::size_t>(warps), {});
  ordered_.assign(static_cast<std::size_t>(warps), 0);
}

void GridWait::waited(int warp, std::uint32_t lanes, std::uint32_t now) {
  const auto w = static_cast<std::size_t>(warp);
  if (first_[w] == 0) first_[w] = now;
  for_lanes<std::size_t>(lanes & ~ordered_[w], [&](std::size_t lane) {
    if (lanes_[w][lane] == 0) lanes_[w][lane] = now;
  });
  ordered_[w] |= lanes;
}

void GridWait::arrived(int copies, std::uint32_t time) {
  std::uint32_t& first = first_[static_cast<std::size_t>(copies)];
  if (first == 0) first = time;
}

std::uint32_t GridWait::still_early(RaceChecker& races, int warp, std::uint32_t open) {
  const auto w = static_cast<std::size_t>(warp);
  const VectorClock& known = races.clocks().of(warp);
  for (std::size_t c = 0; c < kClocks; ++c) {
    // If a lane of the same warp executed griddepcontrol.wait, another lane is ordered after it
    // only if the warp's LaneOrder says so, which is checked below.
    if (c != w && first_[c] != 0 && known.includes(c, 0, first_[c])) ordered_[w] = kAllLanes;
  }
  if (first_[w] != 0) {
    const LaneOrder& order = races.clocks().order(warp);
    for_lanes(open & ~ordered_[w], [&](int lane) {
      for (int other = 0; other < kWarpSize; ++other) {
        const std::uint32_t time = lanes_[w][static_cast<std::size_t>(other)];
        if (time != 0 && !order.is_unordered(lane, other, time)) ordered_[w] |= 1U << lane;
      }
    });
  }
  return open & ~ordered_[w];
}

std::uint32_t early_lanes(Warp& warp, std::uint32_t lanes) {
  Cta& cta = *warp.cta;
  if (!cta.program().waits_for_grid || !cta.launch().check) return 0;
  return cta.grid_wait().early(cta.races(), warp.index, lanes);
}

void report_early(Warp& warp, int lane, const std::string& access) {
  Cta& cta = *warp.cta;
  if (cta.is_reported(HazardKind::kGridWait, pc_of(warp), -1)) return;
  cta.report(
      HazardKind::kGridWait, pc_of(warp), -1,
      access + " by " + cta.names().thread(warp.index, lane) +
          ", which neither executed griddepcontrol.wait nor waited at a barrier for a thread "
          "that executed it; the previous kernel may still run");
}

}  // namespace evo::ptx
