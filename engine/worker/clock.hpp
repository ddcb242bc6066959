#pragma once

#include <poll.h>

#include <chrono>
#include <span>

namespace evo {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Time, and waiting for worker processes.
class Clock {
 public:
  virtual ~Clock() = default;

  [[nodiscard]] virtual SteadyTime now() const = 0;
  /// Returns when one of `interests` has news, a signal came, or it is `until`; may return earlier.
  virtual void wait(std::span<pollfd> interests, SteadyTime until) = 0;
};

/// The machine's.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  void wait(std::span<pollfd> interests, SteadyTime until) override;
};

/// From `start` to `end`.
[[nodiscard]] inline double milliseconds_between(SteadyTime start, SteadyTime end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace evo
