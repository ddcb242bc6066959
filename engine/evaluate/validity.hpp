#pragma once

#include <string>
#include <vector>

#include "engine/core/device_info.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// What a shape must satisfy: an expression of shape variables, macros and SM_COUNT that is not 0.
struct ShapeCondition {
  std::string expression;
  std::string why;
};

/// Where a kernel that was compiled for `timed` may be launched with other sizes: on shapes that
/// give the problem's macros the same values, that the template supports, and that satisfy the
/// space's constraints which name shape variables. The limits of `device` stand there as numbers.
[[nodiscard]] std::vector<ShapeCondition> shape_conditions(const Problem& problem,
                                                           const KernelSpec& kernel,
                                                           const SpaceDefinition& space,
                                                           const Shape& timed,
                                                           const DeviceInfo& device);

}  // namespace evo
