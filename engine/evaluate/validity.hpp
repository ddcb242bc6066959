#pragma once

#include <string>
#include <vector>

#include "engine/core/device_info.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// A condition on a shape: an expression of shape variables, macros and SM_COUNT that must not be
/// 0.
struct ShapeCondition {
  std::string expression;
  std::string why;
};

/// The space for a timed shape: its constraints and milestones with the names of the problem, the
/// shape and the device replaced. Throws InputError if a formula of the space has the name of a
/// problem's macro.
[[nodiscard]] SpaceDefinition placed_space(const SpaceDefinition& space, const Problem& problem,
                                           const KernelSpec& kernel, const Shape& shape,
                                           const DeviceInfo& device);

/// The conditions under which a kernel compiled for `timed` may be launched on other shapes: the
/// problem's macros have the same values, the template supports the shape, and the shape satisfies
/// the space's constraints that name shape variables. The limits of `device` appear as numbers.
[[nodiscard]] std::vector<ShapeCondition> shape_conditions(const Problem& problem,
                                                           const KernelSpec& kernel,
                                                           const SpaceDefinition& space,
                                                           const Shape& timed,
                                                           const DeviceInfo& device);

}  // namespace evo
