#pragma once

#include "engine/core/formulas.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// Replaces names in the constraints and milestone conditions of `space` by their definitions in
/// `external_names`: values of the timed shape and of the device, and formulas of the problem. A
/// macro or value name of the space hides a definition with the same name. If a name was replaced,
/// the `text` of the result is an equivalent space file with the replacements. Throws SpaceError if
/// a replacement fails.
[[nodiscard]] SpaceDefinition placed(SpaceDefinition space, Formulas external_names);

}  // namespace evo
