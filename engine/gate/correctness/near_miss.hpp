#pragma once

#include <string_view>
#include <vector>

#include "engine/gate/correctness/expectation.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// A wrong output that a typical indexing error causes: each element has the expected value of a
/// nearby element.
enum class NearMiss { kElementBefore, kElementBehind, kElementsExchanged, kRowsExchanged };

/// Describes the wrong output, for example "the previous element in place of every element".
[[nodiscard]] std::string_view what_it_is(NearMiss miss);
/// Describes a kernel that makes the error `miss`, for example "is off by one".
[[nodiscard]] std::string_view who_gives_it(NearMiss miss);

/// Returns the near misses, which are wrong outputs similar to `expected`, that the tolerance
/// accepts. Omits near misses that differ from `expected` in only a few elements, for example
/// because most elements are equal. `expected`: a whole output, or some of its rows in order.
/// `row_length`: elements per row, which divides the number of elements; 0 if the output has no
/// rows. Unless whole rows are exchanged, an element is replaced only by an element of the same
/// row.
[[nodiscard]] std::vector<NearMiss> accepted_near_misses(const Expectation& expected,
                                                         const Tolerance& tolerance,
                                                         std::size_t row_length);

}  // namespace evo
