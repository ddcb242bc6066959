#include "engine/device/virtual/checks/lane_order.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {
namespace {

/// The number of the node of a span (a group of lanes) in the binary tree whose leaves are the 32
/// lanes: 1 is the root; 2n and 2n + 1 are the halves of node n.
unsigned node_of(int span) { return static_cast<unsigned>(span) ^ kWarpSize; }

}  // namespace

int joined_span(int one, int other) {
  unsigned a = node_of(one);
  unsigned b = node_of(other);
  while (a != b) (a > b ? a : b) >>= 1;
  return static_cast<int>(a ^ kWarpSize);
}

void LaneOrder::met(std::uint32_t lanes, std::uint32_t now) {
  if (times_ == nullptr) times_ = std::make_unique<Times>();
  Times& times = *times_;
  if (!is_partial_) times = {};
  is_partial_ = true;
  std::array<std::uint32_t, kWarpSize> known{};  // the latest time that any of `lanes` knows
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) {
    for (std::size_t l = 0; l < kWarpSize; ++l) known[l] = std::max(known[l], times[lane][l]);
  });
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) { known[lane] = now; });
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) { times[lane] = known; });
}

bool LaneOrder::is_unordered_lane(int lane, int other, std::uint32_t time) const {
  return lane != other &&
         time >= (*times_)[static_cast<std::size_t>(lane)][static_cast<std::size_t>(other)];
}

bool LaneOrder::is_unordered(int lane, int span, std::uint32_t time) const {
  if (time < whole_) return false;
  if (!is_partial_) return span != lane;
  if (span < kWarpSize) return is_unordered_lane(lane, span, time);
  // Each half of the span contains a lane of the access, because the span is the smallest group
  // that contains all lanes of the access.
  for (const unsigned half : {node_of(span) * 2, node_of(span) * 2 + 1}) {
    const int lanes = kWarpSize >> (std::bit_width(half) - 1);
    const int first = static_cast<int>(half) * lanes - kWarpSize;
    bool all = true;
    for (int l = first; l < first + lanes; ++l) all = all && is_unordered_lane(lane, l, time);
    if (all) return true;
  }
  return false;
}

}  // namespace evo::ptx
