#pragma once

#include <cstdint>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// CTAs, about this share of a kernel's grid: their linear indices, sorted. They are drawn by the
/// case's seed from each place in the grid (first, last or between in each dimension), because
/// edges are where kernels go wrong. Empty where no part may stand for the whole: the template does
/// not say that CTAs are independent, it is launched in several steps, or the share is all of it.
[[nodiscard]] std::vector<std::uint64_t> draw_part(const LoadedKernel& kernel,
                                                   const CheckCase& data, double share);

}  // namespace evo
