#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evo::ptx {

inline constexpr int kMaxWarps = 32;
/// Number of entries of a vector clock for bulk copies into shared memory. The copies on one
/// mbarrier share an entry. The entries are assigned to mbarriers in turn, so every eighth mbarrier
/// has the same entry.
inline constexpr int kCopyClocks = 8;
inline constexpr std::size_t kClocks = kMaxWarps + kCopyClocks;

/// Three vector clocks, each with kMaxWarps entries for the warps of a CTA and kCopyClocks entries
/// for its bulk copies. The first is for all previous accesses; the second for the accesses that
/// the asynchronous proxy (wgmma and bulk copies, which read shared memory) sees: those before a
/// proxy fence, and those of completed bulk copies; the third for the accesses that a fence of GPU
/// scope has published to other CTAs.
using VectorClock = std::array<std::uint32_t, 3 * kClocks>;
inline constexpr std::size_t kProxied = kClocks;
inline constexpr std::size_t kPublished = 2 * kClocks;

}  // namespace evo::ptx
