#pragma once

#include <string>
#include <vector>

#include "engine/space/space.hpp"

namespace evo {

/// The candidate that `--milestone` (empty: the defaults) and `--set MACRO=VALUE …` ask for. Throws
/// InputError naming the option and what is allowed, SpaceError for one that violates a constraint.
[[nodiscard]] Candidate candidate_from_options(const Space& space, const std::string& milestone,
                                               const std::vector<std::string>& settings);

}  // namespace evo
