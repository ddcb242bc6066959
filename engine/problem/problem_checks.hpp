#pragma once

#include <string>

#include "engine/problem/problem.hpp"

namespace evo {

/// Checks a whole problem before the search. Reports ambiguous names, bounds without effect, and
/// invalid values of expressions that depend only on the shape, on every shape. Throws ProblemError
/// naming `file`, key, value and the allowed values.
void check_problem(const Problem& problem, const std::string& file);

}  // namespace evo
