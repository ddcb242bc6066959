#pragma once

#include <vector>

#include "db/queries.hpp"

namespace evo {

/// Whether each milestone extends the one before: the macros that differ from the first milestone
/// include all that differ in the previous one. True for the first.
[[nodiscard]] std::vector<bool> builds_on_before(const std::vector<Rung>& rungs);

}  // namespace evo
