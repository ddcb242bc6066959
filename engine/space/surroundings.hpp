#pragma once

#include "engine/core/formulas.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The space with what its constraints may name beside its own macros put in the place of the
/// names: numbers of the timed shape and of the device, formulas of the problem. A macro or value
/// name of the space comes before all of them. `text` becomes that of a space which needs no
/// surroundings, so that it can be read again alone. Throws SpaceError naming file and constraint.
[[nodiscard]] SpaceDefinition placed(SpaceDefinition space, Formulas surroundings);

}  // namespace evo
