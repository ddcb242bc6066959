#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace evo::ptx {

inline constexpr int kMaxWarps = 32;

/// What happened before, per warp of a CTA, in three parts: all of it; what of it a proxy fence has
/// made visible to the asynchronous proxy (wgmma reading shared memory); what of it a fence of the
/// GPU has published to other CTAs.
using VectorClock = std::array<std::uint32_t, std::size_t{3} * kMaxWarps>;
inline constexpr std::size_t kProxied = kMaxWarps;
inline constexpr std::size_t kPublished = std::size_t{2} * kMaxWarps;

}  // namespace evo::ptx
