#pragma once

#include <vector>

#include "db/queries.hpp"

namespace evo {

/// Whether each milestone builds on the one before: the macros in which it differs from the first
/// milestone include all in which the one before does. True for the first.
[[nodiscard]] std::vector<bool> builds_on_before(const std::vector<Rung>& rungs);

}  // namespace evo
