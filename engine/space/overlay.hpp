#pragma once

#include "engine/core/json_reader.hpp"

namespace evo {

/// Merges the space file `overlay` into the space file `base`. Neither JSON object is checked. Keys
/// of the overlay replace those of the base. "resources" and "let" are merged by key, "parameters"
/// by macro, "milestones" and "constraints" by name. Replaced entries keep their position; new
/// entries are appended.
[[nodiscard]] Json laid_over(const Json& overlay, Json base);

}  // namespace evo
