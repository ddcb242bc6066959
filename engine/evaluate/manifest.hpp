#pragma once

#include <string>
#include <vector>

#include "engine/evaluate/validity.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// Describes how to launch a kernel, as JSON for users without evo-tune (docs/database.md, "The
/// kernel's manifest"). The JSON has the entry point, arguments with types and sizes, launch
/// geometry as expressions and as values for `shape`, macros, tolerance, and the conditions `valid`
/// that other shapes must satisfy. `macros`: the numbers of the configuration's macros and of value
/// names such as SWIZZLE_XOR.
[[nodiscard]] std::string launch_manifest(const Problem& problem, const KernelSpec& kernel,
                                          const Shape& shape, const Values& macros,
                                          const DeviceInfo& device,
                                          const std::vector<ShapeCondition>& valid);

}  // namespace evo
