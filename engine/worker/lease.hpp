#pragma once

#include <chrono>

namespace evo {

// Neither side of a connection takes the other one's silence for life.

inline constexpr std::chrono::milliseconds kBeatEvery{1500};
/// Without a sign of life for so long, the other side is gone.
inline constexpr std::chrono::milliseconds kLease{6000};
/// A worker that has lost its coordinator for so long ends itself.
inline constexpr std::chrono::milliseconds kGiveUpAfter{9000};

}  // namespace evo
