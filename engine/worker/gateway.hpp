#pragma once

#include <string>

namespace evo {

/// The main function of the gateway process between a run and its workers on other hosts
/// (evo-worker gateway). The gateway listens, accepts workers that have the run's key and the same
/// `version`, gives the run a socket for each worker, and forwards frames in both directions. The
/// gateway sends and checks heartbeats even while the run is busy, and ends when the run ends.
///
/// The gateway's standard input is a PacketSocket to the run. The run sends {listen, key}; the
/// gateway answers {listening} or {error, code}. Later, the gateway sends {joined: identity, id}
/// with a descriptor, {left: id, why}, and {refused: text} for workers that it does not accept.
///
/// Returns the exit code.
[[nodiscard]] int serve_gateway(const std::string& version);

}  // namespace evo
