#pragma once

#include <string_view>
#include <vector>

#include "engine/gate/correctness/expectation.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// Outputs that a kernel with a slip gives: each element is one that is expected close by.
enum class NearMiss { kElementBefore, kElementBehind, kElementsExchanged, kRowsExchanged };

/// What stands in the output: "the element before in place of every element".
[[nodiscard]] std::string_view what_it_is(NearMiss miss);
/// What a kernel does that gives it: "is off by one".
[[nodiscard]] std::string_view who_gives_it(NearMiss miss);

/// The near misses of `expected` that are within the tolerance. One that holds what is expected in
/// all but a few elements, as where these are all the same, says nothing and is none of them.
/// `expected`: all of an output, or some of its rows in their order; `row_length`: elements of a
/// row, which divides their number; 0: there are no rows. Elements stay in their row.
[[nodiscard]] std::vector<NearMiss> accepted_near_misses(const Expectation& expected,
                                                         const Tolerance& tolerance,
                                                         std::size_t row_length);

}  // namespace evo
