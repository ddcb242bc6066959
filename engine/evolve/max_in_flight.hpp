#pragma once

#include <algorithm>
#include <cstddef>

namespace evo {

/// How many candidates may be in flight, that is, proposed and not evaluated yet, when candidate
/// number `slot` (0, 1, …) of a run is proposed. The first eight proposals of the default strategy
/// do not depend on results. Later proposals improve if they wait for more results, so from slot 8
/// on the limit starts at three and grows with the slot number until it reaches `max_in_flight`.
/// docs/results/no-gpu.json compares the limits 1 and 64.
[[nodiscard]] constexpr std::size_t in_flight_at(std::size_t slot, std::size_t max_in_flight) {
  constexpr std::size_t kAtFirst = 8;
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kShare = 5;
  return std::min(max_in_flight, slot < kAtFirst ? kAtFirst : std::max(kFewest, slot / kShare));
}

/// The default number of candidates in flight. With more candidates in flight, the `compilers`
/// processes rarely wait for one slow compilation, but a strategy that learns knows fewer results
/// when it proposes. If the strategy does not learn from results (`learns` is false), many
/// candidates in flight have no disadvantage, so the number is higher.
[[nodiscard]] constexpr std::size_t default_max_in_flight(std::size_t compilers, bool learns) {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMost = 32;
  constexpr std::size_t kWithoutLearning = 8;
  return learns ? std::clamp(2 * compilers, kFewest, kMost)
                : std::max(kWithoutLearning * compilers, kFewest);
}

}  // namespace evo
