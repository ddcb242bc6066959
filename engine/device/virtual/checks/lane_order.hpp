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
/// A mask of the lanes in a span.
[[nodiscard]] std::uint32_t lanes_of_span(int span);

/// Records in which order the lanes of one warp accessed memory. A .sync instruction orders the
/// accesses of the lanes that execute it together. All times in a LaneOrder are those of the warp's
/// own entry in its vector clock.
class LaneOrder {
 public:
  /// Records that a .sync instruction of all lanes orders the accesses that the warp made before
  /// the time `now` before its later accesses.
  void met(std::uint32_t now) {
    whole_ = now;
    is_partial_ = false;
  }
  /// Records that `lanes` together executed a .sync instruction, which orders the accesses that
  /// they made before the time `now` before their later accesses.
  void met(std::uint32_t lanes, std::uint32_t now);
  /// Records that `lanes` acquired a release, so their next accesses are ordered after the accesses
  /// that all lanes made before the time `all`, and that the lanes in `mask` made before the time
  /// `some`.
  void acquired(std::uint32_t lanes, std::uint32_t all, std::uint32_t mask, std::uint32_t some);
  /// As acquired(), if all lanes of the warp acquired the release.
  void acquired_by_all(std::uint32_t all, std::uint32_t mask, std::uint32_t some);

  /// Accesses of the warp before this time are ordered before the current instruction of every
  /// lane.
  [[nodiscard]] std::uint32_t whole() const { return whole_; }
  /// True if an access by the lanes of `span` at `time` is not ordered before the current
  /// instruction of `lane`. For a span of several lanes, the function returns true only if the
  /// access of at least one lane is certainly not ordered.
  [[nodiscard]] bool is_unordered(int lane, int span, std::uint32_t time) const;

  /// The time before which the accesses of every lane outside of `lanes` are ordered before the
  /// current instruction of at least one of `lanes`.
  [[nodiscard]] std::uint32_t known_to(std::uint32_t lanes) const;
  /// A mask of `lanes` and of each other lane whose accesses up to a later time than
  /// known_to(lanes) are ordered before the current instruction of one of `lanes`.
  [[nodiscard]] std::uint32_t better_known_to(std::uint32_t lanes) const;

 private:
  [[nodiscard]] bool is_unordered_lane(int lane, int other, std::uint32_t time) const;
  void become_partial();
  /// The time before which the accesses of lane `of` are ordered before one of `lanes`.
  [[nodiscard]] std::uint32_t known_of(std::uint32_t lanes, std::size_t of) const;

  std::uint32_t whole_ = 0;
  bool is_partial_ = false;  ///< true: some lanes know later accesses than those before `whole_`
  /// [a][b]: the time before which accesses of lane b are ordered before the current instruction of
  /// lane a; valid if is_partial_.
  using Times = std::array<std::array<std::uint32_t, kWarpSize>, kWarpSize>;
  std::unique_ptr<Times> times_;
};

}  // namespace evo::ptx
