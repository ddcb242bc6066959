#pragma once

#include <poll.h>

#include <vector>

#include "engine/worker/clock.hpp"

namespace evo {

/// Worker processes that go on while the coordinator waits for a compiler or for the device.
class Background {
 public:
  virtual ~Background() = default;

  /// Takes the answers that have come and begins the requests that wait. Never blocks.
  virtual void collect() = 0;
  /// While busy: what to poll for, and when the first request runs out of time.
  [[nodiscard]] virtual std::vector<pollfd> interests() const = 0;
  [[nodiscard]] virtual SteadyTime next_deadline() const = 0;
};

}  // namespace evo
