#pragma once

#include <bit>
#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// Calls `body` with every lane in the mask, in ascending order.
template <typename Lane = int, typename F>
[[gnu::always_inline]] inline void for_lanes(std::uint32_t mask, F&& body) {
  if (mask == kAllLanes) {
    for (int lane = 0; lane < kWarpSize; ++lane) body(static_cast<Lane>(lane));
    return;
  }
  for (; mask != 0; mask &= mask - 1) body(static_cast<Lane>(std::countr_zero(mask)));
}

}  // namespace evo::ptx
