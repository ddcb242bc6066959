#include "engine/device/virtual/checks/lane_order.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

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

std::uint32_t lanes_of_span(int span) {
  if (span < kWarpSize) return 1U << span;
  const unsigned node = node_of(span);
  const int lanes = kWarpSize >> (std::bit_width(node) - 1);
  const int first = static_cast<int>(node) * lanes - kWarpSize;
  return (~0U >> (kWarpSize - lanes)) << first;
}

void LaneOrder::become_partial() {
  if (times_ == nullptr) times_ = std::make_unique<Times>();
  if (!is_partial_) *times_ = {};
  is_partial_ = true;
}

void LaneOrder::met(std::uint32_t lanes, std::uint32_t now) {
  become_partial();
  Times& times = *times_;
  std::array<std::uint32_t, kWarpSize> known{};  // the latest time that any of `lanes` knows
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) {
    for (std::size_t l = 0; l < kWarpSize; ++l) known[l] = std::max(known[l], times[lane][l]);
  });
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) { known[lane] = now; });
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) { times[lane] = known; });
}

void LaneOrder::acquired(std::uint32_t lanes, std::uint32_t all, std::uint32_t mask,
                         std::uint32_t some) {
  if (all <= whole_ && (mask == 0 || some <= whole_)) return;
  become_partial();
  for_lanes<std::size_t>(lanes, [&](std::size_t lane) {
    for (std::size_t of = 0; of < kWarpSize; ++of) {
      std::uint32_t& time = (*times_)[lane][of];
      time = std::max(time, ((mask >> of) & 1U) != 0 ? std::max(all, some) : all);
    }
  });
}

void LaneOrder::acquired_by_all(std::uint32_t all, std::uint32_t mask, std::uint32_t some) {
  whole_ = std::max(whole_, all);
  acquired(~0U, all, mask, some);
}

std::uint32_t LaneOrder::known_of(std::uint32_t lanes, std::size_t of) const {
  std::uint32_t known = whole_;
  if (!is_partial_) return known;
  for_lanes<std::size_t>(lanes,
                         [&](std::size_t lane) { known = std::max(known, (*times_)[lane][of]); });
  return known;
}

std::uint32_t LaneOrder::known_to(std::uint32_t lanes) const {
  if (!is_partial_) return whole_;
  std::uint32_t known = std::numeric_limits<std::uint32_t>::max();
  for_lanes<std::size_t>(~lanes,
                         [&](std::size_t of) { known = std::min(known, known_of(lanes, of)); });
  return known;
}

std::uint32_t LaneOrder::better_known_to(std::uint32_t lanes) const {
  if (!is_partial_) return lanes;
  const std::uint32_t known = known_to(lanes);
  std::uint32_t better = lanes;
  for_lanes<std::size_t>(~lanes, [&](std::size_t of) {
    if (known_of(lanes, of) > known) better |= 1U << of;
  });
  return better;
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
