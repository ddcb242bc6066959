#pragma once

#include <algorithm>
#include <cstddef>

namespace evo {

/// How many candidates may be in flight when the one of slot `slot` (0, 1, …) is proposed: `window`
/// once a run has learned enough. The first eight need no outcome. After them every proposal that
/// waits for more outcomes is worth more: the window opens with the number of slots (docs/search.md
/// has what that is worth).
[[nodiscard]] constexpr std::size_t in_flight_at(std::size_t slot, std::size_t window) {
  constexpr std::size_t kAtFirst = 8;
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kShare = 5;
  return std::min(window, slot < kAtFirst ? kAtFirst : std::max(kFewest, slot / kShare));
}

/// Candidates in flight unless asked for otherwise: enough that `compilers` processes do not wait
/// for the one whose turn it is, and no more than the search can stand. A strategy that does not
/// `learn` can stand any number: the others go on while one compiles for long.
[[nodiscard]] constexpr std::size_t default_window(std::size_t compilers, bool learns) {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMost = 32;
  constexpr std::size_t kWithoutLearning = 8;
  return learns ? std::clamp(2 * compilers, kFewest, kMost)
                : std::max(kWithoutLearning * compilers, kFewest);
}

}  // namespace evo
