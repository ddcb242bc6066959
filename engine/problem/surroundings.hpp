#pragma once

#include "engine/core/formulas.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// What the constraints of a space for `kernel` may name beside its macros: variables and macros of
/// the timed shape, formulas of the problem, DYNAMIC_SHARED_BYTES, and the limits of the device. A
/// name of the problem comes before one of the device.
[[nodiscard]] Formulas formulas_for_constraints(const Problem& problem, const KernelSpec& kernel,
                                                const Shape& timed, const DeviceInfo& device);

}  // namespace evo
