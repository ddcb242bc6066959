#pragma once

#include <cstdint>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Draws about `share` of a grid's CTAs and returns their linear indices, sorted. The draw, seeded
/// by the case, covers each place in the grid (first, last or between in each dimension), because
/// errors often occur at edges. Returns nothing if no part represents the whole grid: the template
/// does not declare independent CTAs, the launch has several steps, or the share is the whole grid.
[[nodiscard]] std::vector<std::uint64_t> draw_part(const LoadedKernel& kernel,
                                                   const CheckCase& data, double share);

}  // namespace evo
