#pragma once

#include <cstdint>

#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

/// Lanes with the same member mask in a .sync instruction.
struct MemberGroup {
  std::uint32_t members = 0;
  std::uint32_t lanes = 0;
};

/// The lanes of `left` with the same mask as its first lane. If one of them does not include
/// itself, a hazard ends the launch and the result is empty.
[[nodiscard]] MemberGroup first_group(Warp& warp, std::uint32_t members, std::uint32_t left);

/// Lanes with different member masks meet separately. Calls `meet` for every group of running lanes
/// with the same mask once all members that have not exited are there; the group is then warp.exec.
/// The other lanes wait. `members`: the register with the masks.
template <typename F>
void for_member_groups(Warp& warp, std::uint32_t members, F&& meet) {
  const std::uint32_t all = warp.exec;
  std::uint32_t waiting = 0;
  for (std::uint32_t left = all; left != 0;) {
    const MemberGroup group = first_group(warp, members, left);
    if (group.lanes == 0) return;
    left &= ~group.lanes;
    const std::uint32_t needed = group.members & warp.alive;
    if ((needed & ~group.lanes) != 0) {
      waiting |= group.lanes;
      continue;
    }
    warp.exec = group.lanes;
    needed == warp.alive ? warp.cta->races().advance(warp.index)
                         : warp.cta->races().advance(warp.index, group.lanes);
    meet();
  }
  warp.exec = waiting != 0 ? waiting : all;
  warp.park = waiting != 0;
  if (waiting != all) warp.parks_in_a_row = 0;
}

}  // namespace evo::ptx
