#pragma once

#include <string>

#include "engine/problem/problem.hpp"

namespace evo {

/// What is wrong with a problem as a whole, found before any candidate is: names that mean two
/// things, bounds that bound nothing, and every expression that only depends on the shape, on every
/// shape. Throws ProblemError naming `file`, key, value and what is allowed.
void check_problem(const Problem& problem, const std::string& file);

}  // namespace evo
