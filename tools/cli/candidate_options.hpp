#pragma once

#include <string>
#include <vector>

#include "engine/space/space.hpp"

namespace evo {

/// The candidate selected by `--milestone` (empty: the defaults) and `--set MACRO=VALUE …`. Throws
/// InputError naming the option and the allowed values, and SpaceError for a candidate that
/// violates a constraint.
[[nodiscard]] Candidate candidate_from_options(const Space& space, const std::string& milestone,
                                               const std::vector<std::string>& settings);

}  // namespace evo
