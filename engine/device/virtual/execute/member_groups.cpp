#include "engine/device/virtual/execute/member_groups.hpp"

#include <bit>

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

}  // namespace evo::ptx
