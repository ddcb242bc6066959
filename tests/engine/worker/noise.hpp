#pragma once

#include <cstdint>
#include <string>

#include "engine/worker/host_port.hpp"

namespace evo {

struct NoiseOptions {
  HostPort gateway;
  std::string key;      ///< of the run
  std::string version;  ///< of the run's evo-tune; the gateway refuses others
  std::size_t frames = 0;
  std::uint64_t seed = 1;
};

/// The number of changed frames of each kind that were sent. Each frame had a separate connection,
/// because the gateway stops reading after an invalid frame.
struct NoiseCount {
  std::size_t without_key = 0;  ///< changed frames in place of a TLS handshake
  std::size_t greetings = 0;    ///< first frames, changed or cut, from a caller with the key
  std::size_t answers = 0;      ///< changed or cut frames after a valid greeting
  std::size_t closed = 0;       ///< connections that the gateway closed

  [[nodiscard]] std::size_t frames() const { return without_key + greetings + answers; }
};

/// Sends frames that were changed at random to a gateway. The run never accepts a changed frame as
/// the result of a compilation, because a worker must first send the run's compiler version, and
/// the only compiler version in the frames is "noise".
[[nodiscard]] NoiseCount send_noise(const NoiseOptions& options);

}  // namespace evo
