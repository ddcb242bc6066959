#pragma once

#include <cstdint>

#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

/// Lanes that have the same member mask in a .sync instruction.
struct MemberGroup {
  std::uint32_t members = 0;
  std::uint32_t lanes = 0;
};

/// The lanes of `left` that have the same member mask as the first lane of `left`. If a lane is not
/// in its own member mask, reports a hazard, ends the launch and returns an empty group.
[[nodiscard]] MemberGroup first_group(Warp& warp, std::uint32_t members, std::uint32_t left);

/// Lets lanes that wait at a .sync instruction continue after it.
void release_parked(Warp& warp, std::uint32_t lanes);

/// Groups the running lanes by their member masks in a .sync instruction. Calls `meet` for each
/// group whose members, except exited lanes, are all at this instruction; during the call,
/// warp.exec is the group. The other lanes wait. `members`: the register that holds the member
/// masks. `elsewhere`: returns, for a member mask, the lanes at other instructions that count as if
/// they were at this one; they continue after their instruction.
template <typename F, typename G>
void for_member_groups(Warp& warp, std::uint32_t members, F&& meet, G&& elsewhere) {
  const std::uint32_t all = warp.exec;
  std::uint32_t waiting = 0;
  for (std::uint32_t left = all; left != 0;) {
    const MemberGroup group = first_group(warp, members, left);
    if (group.lanes == 0) return;
    left &= ~group.lanes;
    const std::uint32_t needed = group.members & warp.alive;
    const std::uint32_t others = needed & ~group.lanes;
    if (others != 0 && (others & ~elsewhere(group.members)) != 0) {
      waiting |= group.lanes;
      continue;
    }
    warp.exec = group.lanes;
    needed == warp.alive ? warp.cta->races().clocks().meet(warp.index)
                         : warp.cta->races().clocks().meet(warp.index, needed);
    meet();
    if (others != 0) release_parked(warp, others);
  }
  warp.exec = waiting != 0 ? waiting : all;
  warp.park = waiting != 0;
  if (waiting != all) warp.parks_in_a_row = 0;
}
template <typename F>
void for_member_groups(Warp& warp, std::uint32_t members, F&& meet) {
  for_member_groups(warp, members, meet, [](std::uint32_t) { return 0U; });
}

}  // namespace evo::ptx
