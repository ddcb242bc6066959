#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

// A span records, in 6 bits, which lanes made an access: one lane, or the smallest aligned group of
// 2, 4, 8, 16 or 32 lanes that contains all lanes of the access. Groups are the inner nodes of a
// binary tree whose leaves are the lanes.
inline constexpr int kAllLanesSpan = kWarpSize + 1;  ///< the root of the tree: all lanes

/// The smallest span that contains the spans `one` and `other`.
[[nodiscard]] int joined_span(int one, int other);

/// Records in which order the lanes of one warp accessed memory. A .sync instruction orders the
/// accesses of the lanes that execute it together. All times in a LaneOrder are those of the warp's
/// own entry in its vector clock.
class LaneOrder {
 public:
  /// Orders all accesses of the warp before `now`, as a .sync instruction of all lanes does.
  void met(std::uint32_t now) {
    whole_ = now;
    is_partial_ = false;
  }
  /// Records that `lanes` together executed a .sync instruction, which orders their accesses before
  /// `now`.
  void met(std::uint32_t lanes, std::uint32_t now);

  /// The `now` of the last call of met() for all lanes: earlier accesses of the warp are ordered
  /// before the current instruction of every lane.
  [[nodiscard]] std::uint32_t whole() const { return whole_; }
  /// True if an access by the lanes of `span` at `time` is not ordered before the current
  /// instruction of `lane`. For a span of several lanes, the function returns true only if the
  /// access of at least one lane is certainly not ordered.
  [[nodiscard]] bool is_unordered(int lane, int span, std::uint32_t time) const;

 private:
  [[nodiscard]] bool is_unordered_lane(int lane, int other, std::uint32_t time) const;

  std::uint32_t whole_ = 0;
  bool is_partial_ = false;  ///< only some lanes met since `whole_`
  /// [a][b]: the time before which accesses of lane b are ordered before the current instruction of
  /// lane a; valid if is_partial_.
  using Times = std::array<std::array<std::uint32_t, kWarpSize>, kWarpSize>;
  std::unique_ptr<Times> times_;
};

}  // namespace evo::ptx
