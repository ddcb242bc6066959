#include "engine/device/virtual/execute/member_groups.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {

MemberGroup first_group(Warp& warp, std::uint32_t members, std::uint32_t left) {
  const auto* masks = warp.reg<const std::uint32_t>(members);
  MemberGroup group{masks[std::countr_zero(left)], 0};
  for_lanes(left,
            [&](int lane) { group.lanes |= (masks[lane] == group.members ? 1U : 0U) << lane; });
  const std::uint32_t outsiders = group.lanes & ~group.members;
  if (outsiders == 0) return group;
  warp.cta->fail(HazardKind::kDivergence, pc_of(warp), -1,
                 warp.cta->names().thread(warp.index, std::countr_zero(outsiders)) +
                     " is not in its own member mask");
  return {};
}

void release_parked(Warp& warp, std::uint32_t lanes) {
  const std::vector<LaneGroup> waiting = std::exchange(warp.waiting, {});
  for (const LaneGroup& group : waiting) {
    const std::uint32_t released = group.parked ? group.mask & lanes : 0;
    if (released != 0) warp.waiting.push_back({group.pc + 1, released, false});
    if (released != group.mask)
      warp.waiting.push_back({group.pc, group.mask & ~released, group.parked});
  }
}

}  // namespace evo::ptx
