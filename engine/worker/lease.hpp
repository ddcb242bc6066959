#pragma once

#include <chrono>

namespace evo {

// Heartbeats: on a connection between hosts, each peer sends a message at least every kBeatEvery.

inline constexpr std::chrono::milliseconds kBeatEvery{1500};
/// A peer closes the connection after this time without a message from the other peer.
inline constexpr std::chrono::milliseconds kLease{6000};
/// An agent ends if it cannot reach its coordinator for this time.
inline constexpr std::chrono::milliseconds kGiveUpAfter{9000};

}  // namespace evo
