#pragma once

#include <string>

#include "engine/problem/problem.hpp"

namespace evo {

/// Checks a whole problem before the search. Finds, for example, ambiguous names, bounds without
/// effect, missing data files, and, on every shape, invalid values of expressions that depend only
/// on the shape. Throws ProblemError naming `file`, key, value and the allowed values.
void check_problem(const Problem& problem, const std::string& file);

}  // namespace evo
