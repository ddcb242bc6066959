#include "engine/worker/clock.hpp"

#include <algorithm>

namespace evo {

void SystemClock::wait(std::span<pollfd> interests, SteadyTime until) {
  constexpr double kLongestMs = 60000;
  const double left_ms = std::clamp(milliseconds_between(now(), until), 0.0, kLongestMs);
  // Rounded up: polling again and again until a fraction of a millisecond is over helps nobody.
  ::poll(interests.data(), interests.size(), static_cast<int>(left_ms) + 1);
}

}  // namespace evo
