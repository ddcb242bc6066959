#pragma once

#include <algorithm>
#include <cstddef>

namespace evo {

/// How many candidates may be in flight when the candidate of slot `slot` (0, 1, …) is proposed.
/// The first eight candidates need no outcome. Later proposals improve if they wait for more
/// outcomes, so the limit starts lower and grows with the slot number until it reaches `window`.
/// docs/results/no-gpu.json compares windows.
[[nodiscard]] constexpr std::size_t in_flight_at(std::size_t slot, std::size_t window) {
  constexpr std::size_t kAtFirst = 8;
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kShare = 5;
  return std::min(window, slot < kAtFirst ? kAtFirst : std::max(kFewest, slot / kShare));
}

/// The default number of candidates in flight. The number is high enough that `compilers` processes
/// do not wait for one slow compilation, and not higher than the search tolerates. A strategy that
/// does not `learn` tolerates any number, so that other compilations continue during a long one.
[[nodiscard]] constexpr std::size_t default_window(std::size_t compilers, bool learns) {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMost = 32;
  constexpr std::size_t kWithoutLearning = 8;
  return learns ? std::clamp(2 * compilers, kFewest, kMost)
                : std::max(kWithoutLearning * compilers, kFewest);
}

}  // namespace evo
