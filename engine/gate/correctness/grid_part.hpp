#pragma once

#include <cstdint>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Linear indices, sorted, of about this share of a grid's CTAs. The case's seed draws them from
/// each place in the grid (first, last or between in each dimension), because errors often occur at
/// edges. Empty if no part may stand for the whole: the template does not declare independent CTAs,
/// the launch has several steps, or the share is everything.
[[nodiscard]] std::vector<std::uint64_t> draw_part(const LoadedKernel& kernel,
                                                   const CheckCase& data, double share);

}  // namespace evo
