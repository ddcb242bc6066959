#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace evo::ptx {

inline constexpr int kMaxWarps = 32;
/// Number of entries of a vector clock for copies into shared memory that mbarriers track. The
/// copies of one mbarrier share an entry. The entries are assigned to mbarriers in turn, so every
/// eighth mbarrier has the same entry.
inline constexpr int kCopyClocks = 8;
inline constexpr std::size_t kClocks = kMaxWarps + kCopyClocks;
inline constexpr std::size_t kProxied = kClocks;
inline constexpr std::size_t kPublished = 2 * kClocks;

/// Three vector clocks, each with kMaxWarps entries for the warps of a CTA and kCopyClocks entries
/// for the copies that its mbarriers track. The first is for all previous accesses; the second,
/// from kProxied on, for the accesses that the asynchronous proxy (wgmma and bulk copies, which
/// read shared memory) sees: those before a proxy fence, and those of completed bulk copies; the
/// third, from kPublished on, for the accesses that a fence of GPU scope has published to other
/// CTAs.
struct VectorClock {
  /// Some lanes of a warp, and the time up to which their accesses are included. The entry of the
  /// warp in the first clock holds the time for the other lanes.
  struct SomeLanes {
    std::uint32_t mask = 0;
    std::uint32_t time = 0;
  };

  std::array<std::uint32_t, 3 * kClocks> times{};
  std::array<SomeLanes, kMaxWarps> some_lanes{};  ///< one element per warp
  bool has_some_lanes = false;                    ///< false: the elements of some_lanes are empty

  [[nodiscard]] std::uint32_t& operator[](std::size_t entry) { return times[entry]; }
  [[nodiscard]] std::uint32_t operator[](std::size_t entry) const { return times[entry]; }

  /// Raises each entry to that of `other`. If the two clocks have different lanes of a warp in
  /// some_lanes, the result includes all these lanes up to the later time.
  void join(const VectorClock& other) {
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], other.times[i]);
    if (!other.has_some_lanes) return;
    has_some_lanes = true;
    for (std::size_t w = 0; w < some_lanes.size(); ++w) {
      const SomeLanes& added = other.some_lanes[w];
      SomeLanes& own = some_lanes[w];
      if (own.time <= times[w]) own = {};
      if (added.time <= times[w]) continue;
      own = {own.mask | added.mask, std::max(own.time, added.time)};
    }
  }
  /// True only if join(other) would change nothing; false if `other` has elements in some_lanes.
  [[nodiscard]] bool includes(const VectorClock& other) const {
    if (other.has_some_lanes) return false;
    bool all = true;
    for (std::size_t i = 0; i < times.size(); ++i) all = all && other.times[i] <= times[i];
    return all;
  }
  /// Whether the clock includes the accesses that `lanes` of a warp made at `time`, or the bulk
  /// copies of `time`. `entry`: the entry of the warp or of the copies.
  [[nodiscard]] bool includes(std::size_t entry, std::uint32_t lanes, std::uint32_t time) const {
    if (time <= times[entry]) return true;
    if (!has_some_lanes || entry >= some_lanes.size()) return false;
    return time <= some_lanes[entry].time && (lanes & ~some_lanes[entry].mask) == 0;
  }
};

}  // namespace evo::ptx
