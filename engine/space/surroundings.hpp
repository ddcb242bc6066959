#pragma once

#include "engine/core/formulas.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// In the constraints and milestone conditions of `space`, replaces the names in `surroundings`
/// (values of the timed shape and of the device, and formulas of the problem) by their values.
/// Macros and named values of the space take precedence. Sets `text` to a space file that needs no
/// surroundings. Throws SpaceError naming file and constraint.
[[nodiscard]] SpaceDefinition placed(SpaceDefinition space, Formulas surroundings);

}  // namespace evo
