#pragma once

#include "engine/core/formulas.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// Replaces the outside names in the space's constraints and milestones' conditions by their
/// values: numbers of the timed shape and of the device, and formulas of the problem. Macros and
/// value names of the space take precedence. `text` becomes a space file that can be read on its
/// own. Throws SpaceError naming file and constraint.
[[nodiscard]] SpaceDefinition placed(SpaceDefinition space, Formulas surroundings);

}  // namespace evo
