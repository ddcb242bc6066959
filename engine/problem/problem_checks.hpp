#pragma once

#include <string>

#include "engine/problem/problem.hpp"

namespace evo {

/// Checks a problem as a whole before the search: ambiguous names, ineffective bounds, and, on
/// every shape, each expression that depends only on the shape. Throws ProblemError naming `file`,
/// key, value and the allowed values.
void check_problem(const Problem& problem, const std::string& file);

}  // namespace evo
