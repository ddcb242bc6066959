#pragma once

#include "tools/cli/completion.hpp"

namespace evo {

/// The shapes and devices of the runs in the given database, or else in evo.db.
[[nodiscard]] ValueLists database_values();

}  // namespace evo
