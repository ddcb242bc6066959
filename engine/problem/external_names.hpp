#pragma once

#include "engine/core/formulas.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The names that constraints of a space for `kernel` may use beside its macros: variables and
/// macros of the timed shape, formulas of the problem, DYNAMIC_SHARED_BYTES, and the limits of the
/// device. If the problem and the device define the same name, the problem's value is used.
[[nodiscard]] Formulas formulas_for_constraints(const Problem& problem, const KernelSpec& kernel,
                                                const Shape& timed, const DeviceInfo& device);

}  // namespace evo
