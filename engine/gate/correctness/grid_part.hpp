#pragma once

#include <cstdint>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Draws about the fraction `share` of a grid's CTAs and returns their linear indices, sorted. The
/// draw depends on the seed of `data`. The drawn CTAs lie at the edges and inside of the grid in
/// each dimension, because errors often occur at edges. Returns no CTA if no part represents the
/// whole grid: the template does not declare independent CTAs, the launch has several steps, or
/// `share` is the whole grid.
[[nodiscard]] std::vector<std::uint64_t> draw_part(const LoadedKernel& kernel,
                                                   const CheckCase& data, double share);

}  // namespace evo
