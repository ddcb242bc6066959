#pragma once

#include <string>

namespace evo {

/// The process between a run and its workers on other hosts (evo-worker gateway): it listens, lets
/// workers in that have the key and are of `version`, hands each of them to the run as a socket of
/// its own, and carries frames to and fro. It sends and watches heartbeats, also while the run is
/// busy with something else. It ends with the run.
///
/// Standard input is a PacketSocket. The run sends {listen, key}; the answer is {listening} or
/// {error, code}. Then come {joined: identity, id} with a descriptor, {left: id, why}, and
/// {refused: text} for workers that are not let in.
///
/// Returns the exit code.
[[nodiscard]] int serve_gateway(const std::string& version);

}  // namespace evo
