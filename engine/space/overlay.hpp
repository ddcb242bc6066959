#pragma once

#include "engine/core/json_reader.hpp"

namespace evo {

/// Merges the space file `overlay` into the space file `base`, which `overlay` extends. Does not
/// check the two JSON objects. Keys of `overlay` replace those of `base`, except that "resources"
/// and "let" are merged by key, "parameters" by macro, and "milestones" and "constraints" by name.
/// Replaced entries keep their position in the list; new entries are appended.
[[nodiscard]] Json laid_over(const Json& overlay, Json base);

}  // namespace evo
