#pragma once

#include "engine/problem/problem.hpp"

namespace evo {

/// Holds the expressions of `kernel` (launch, tolerance, workspace extents) against the names that
/// will have values when it is judged: `known`. Throws ProblemError naming file, key, expression,
/// the unknown name and the known ones: found before a search and not by every candidate.
void require_known_names(const Problem& problem, const KernelSpec& kernel, const Values& known);

}  // namespace evo
