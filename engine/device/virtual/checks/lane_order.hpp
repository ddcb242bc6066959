#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

// Lanes as recorded for an access, in 6 bits: one lane, or the smallest aligned group of 2, 4, 8,
// 16 or 32 lanes that contains all lanes of the access. Groups are the inner nodes of a binary tree
// whose leaves are the lanes.
inline constexpr int kAllLanesSpan = kWarpSize + 1;  ///< the root of that tree

/// The smallest span that contains both.
[[nodiscard]] int joined_span(int one, int other);

/// The order among the lanes of one warp: .sync instructions order the lanes that meet there. Time
/// is the warp's own component of its vector clock.
class LaneOrder {
 public:
  /// All lanes met just before `now`.
  void met(std::uint32_t now) {
    whole_ = now;
    is_partial_ = false;
  }
  /// Only `lanes` met: their accesses before `now` are ordered among them.
  void met(std::uint32_t lanes, std::uint32_t now);

  /// Accesses of the warp before this time are ordered before all of its lanes.
  [[nodiscard]] std::uint32_t whole() const { return whole_; }
  /// Whether an access of the lanes of `span` at `time` is not ordered before `lane`. For several
  /// lanes, at least one must be certain.
  [[nodiscard]] bool is_unordered(int lane, int span, std::uint32_t time) const;

 private:
  [[nodiscard]] bool is_unordered_lane(int lane, int other, std::uint32_t time) const;

  std::uint32_t whole_ = 0;
  bool is_partial_ = false;  ///< some lanes met since
  /// [a][b]: accesses of b before that time are ordered before a; valid while is_partial_.
  using Times = std::array<std::array<std::uint32_t, kWarpSize>, kWarpSize>;
  std::unique_ptr<Times> times_;
};

}  // namespace evo::ptx
