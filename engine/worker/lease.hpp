#pragma once

#include <chrono>

namespace evo {

// Heartbeats show each side of a connection that the other side is alive.

inline constexpr std::chrono::milliseconds kBeatEvery{1500};
/// After this time without a message, the other side counts as gone.
inline constexpr std::chrono::milliseconds kLease{6000};
/// A worker that has lost its coordinator for this time ends by itself.
inline constexpr std::chrono::milliseconds kGiveUpAfter{9000};

}  // namespace evo
