#pragma once

#include <string>
#include <vector>

#include "engine/core/device_info.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// A condition on a shape: an expression of shape variables, macros and SM_COUNT. The condition
/// holds if the expression is not 0.
struct ShapeCondition {
  std::string expression;
  std::string why;
};

/// Returns the space for the timed shape `shape`. In its constraints and milestones, names that the
/// problem, the shape and the device define are replaced by their values. Throws InputError if a
/// formula of the space has the name of a problem's macro.
[[nodiscard]] SpaceDefinition placed_space(const SpaceDefinition& space, const Problem& problem,
                                           const KernelSpec& kernel, const Shape& shape,
                                           const DeviceInfo& device);

/// The conditions under which a kernel compiled for `timed` may be launched on other shapes. The
/// problem's macros must have the same values as for `timed`, the template must support the shape,
/// and the shape must satisfy the space's constraints on shape variables. Names of device limits
/// are replaced by the limits of `device`.
[[nodiscard]] std::vector<ShapeCondition> shape_conditions(const Problem& problem,
                                                           const KernelSpec& kernel,
                                                           const SpaceDefinition& space,
                                                           const Shape& timed,
                                                           const DeviceInfo& device);

}  // namespace evo
