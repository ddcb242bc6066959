#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evo::ptx {

inline constexpr int kMaxWarps = 32;
/// Clocks of bulk copies into shared memory: those on one mbarrier share a clock, and every eighth
/// mbarrier.
inline constexpr int kCopyClocks = 8;
inline constexpr std::size_t kClocks = kMaxWarps + kCopyClocks;

/// A vector clock with one entry for each warp of a CTA and each clock of bulk copies, in three
/// parts: all previous accesses; the accesses that a proxy fence has made visible to the
/// asynchronous proxy (wgmma and bulk copies, which read shared memory); and the accesses that a
/// fence of GPU scope has published to other CTAs.
using VectorClock = std::array<std::uint32_t, 3 * kClocks>;
inline constexpr std::size_t kProxied = kClocks;
inline constexpr std::size_t kPublished = 2 * kClocks;

}  // namespace evo::ptx
