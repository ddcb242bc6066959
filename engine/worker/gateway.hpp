#pragma once

#include <string>

namespace evo {

/// The process between a run and its workers on other hosts (evo-worker gateway): it listens,
/// accepts workers that have the key and the same `version`, gives the run a socket for each of
/// them, and forwards frames in both directions. It sends and checks heartbeats, also while the run
/// is busy. It ends with the run.
///
/// Standard input is a PacketSocket. The run sends {listen, key}; the answer is {listening} or
/// {error, code}. Then come {joined: identity, id} with a descriptor, {left: id, why}, and
/// {refused: text} for workers that are not accepted.
///
/// Returns the exit code.
[[nodiscard]] int serve_gateway(const std::string& version);

}  // namespace evo
