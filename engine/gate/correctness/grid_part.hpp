#pragma once

#include <cstdint>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Draws about the fraction `share` of a grid's CTAs, but about eight CTAs or more, and returns
/// their linear indices, sorted. The draw depends on the seed of `data`. The drawn CTAs lie at the
/// edges and inside of the grid in each dimension, because errors often occur at edges. Returns no
/// CTA if no part represents the whole grid (the template does not declare independent CTAs, or the
/// launch has several steps), or if the part would be the whole grid.
[[nodiscard]] std::vector<std::uint64_t> draw_part(const LoadedKernel& kernel,
                                                   const CheckCase& data, double share);

}  // namespace evo
