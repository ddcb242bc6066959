#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evo::ptx {

inline constexpr int kMaxWarps = 32;

/// A vector clock with one entry for each warp of a CTA, in three parts: all previous accesses; the
/// accesses that a proxy fence has made visible to the asynchronous proxy (wgmma reading shared
/// memory); and the accesses that a fence of GPU scope has published to other CTAs.
using VectorClock = std::array<std::uint32_t, std::size_t{3} * kMaxWarps>;
inline constexpr std::size_t kProxied = kMaxWarps;
inline constexpr std::size_t kPublished = std::size_t{2} * kMaxWarps;

}  // namespace evo::ptx
