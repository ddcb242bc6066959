#pragma once

#include <chrono>

namespace evo {

// Heartbeats: on a connection between hosts, a peer that has sent nothing for kBeatEvery sends a
// message.

inline constexpr std::chrono::milliseconds kBeatEvery{1500};
/// Time without a message from the other peer after which a peer closes the connection.
inline constexpr std::chrono::milliseconds kLease{6000};
/// Time since the coordinator's last message after which an agent without a connection ends.
inline constexpr std::chrono::milliseconds kGiveUpAfter{9000};

}  // namespace evo
