#pragma once

#include "tools/cli/completion.hpp"

namespace evo {

/// For completion: the shapes and devices of the runs in the database of --db, or else in evo.db.
[[nodiscard]] ValueLists database_values();

}  // namespace evo
