#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evo::ptx {

inline constexpr int kMaxWarps = 32;
/// Number of clocks for bulk copies into shared memory. Copies on one mbarrier share a clock, and
/// so do the copies on every eighth mbarrier.
inline constexpr int kCopyClocks = 8;
inline constexpr std::size_t kClocks = kMaxWarps + kCopyClocks;

/// A vector clock with an entry for each warp of a CTA and each clock of bulk copies, in three
/// parts: for all previous accesses; for the accesses that a proxy fence has made visible to the
/// asynchronous proxy (wgmma and bulk copies, which read shared memory); and for the accesses that
/// a fence of GPU scope has published to other CTAs.
using VectorClock = std::array<std::uint32_t, 3 * kClocks>;
inline constexpr std::size_t kProxied = kClocks;
inline constexpr std::size_t kPublished = 2 * kClocks;

}  // namespace evo::ptx
