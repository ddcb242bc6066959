#pragma once

#include <vector>

#include "db/queries.hpp"

namespace evo {

/// For each milestone, whether it extends the previous milestone: the macros in which it differs
/// from the first milestone include those in which the previous milestone differs. The
/// element for the first milestone is true.
[[nodiscard]] std::vector<bool> builds_on_before(const std::vector<MilestoneResult>& results);

}  // namespace evo
