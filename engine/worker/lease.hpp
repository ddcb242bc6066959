#pragma once

#include <chrono>

namespace evo {

// Heartbeats of connections between hosts: each side sends one every kBeatEvery.

inline constexpr std::chrono::milliseconds kBeatEvery{1500};
/// A side closes the connection after this time without a message from the other side.
inline constexpr std::chrono::milliseconds kLease{6000};
/// An agent that cannot reach its coordinator for this time ends.
inline constexpr std::chrono::milliseconds kGiveUpAfter{9000};

}  // namespace evo
