#pragma once

#include <cstdint>
#include <string>

#include "engine/worker/host_port.hpp"

namespace evo {

struct NoiseOptions {
  HostPort gateway;
  std::string key;      ///< of the run
  std::string version;  ///< of the run: a greeting with another one is refused
  std::size_t frames = 0;
  std::uint64_t seed = 1;
};

/// So many frames of each kind, each over a connection of its own, so that each is read.
struct NoiseCount {
  std::size_t without_key = 0;  ///< bytes in place of a handshake
  std::size_t greetings = 0;    ///< first frames, changed or cut, from a caller with the key
  std::size_t answers = 0;  ///< frames behind a valid greeting, changed or cut: the run reads them
  std::size_t closed = 0;   ///< connections that the other side ended

  [[nodiscard]] std::size_t frames() const { return without_key + greetings + answers; }
};

/// Calls a gateway with frames that were changed at random. None of them is an answer that a run
/// could believe: no compiler has the version that they name.
[[nodiscard]] NoiseCount send_noise(const NoiseOptions& options);

}  // namespace evo
