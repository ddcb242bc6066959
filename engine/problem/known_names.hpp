#pragma once

#include "engine/problem/problem.hpp"

namespace evo {

/// Holds the expressions of `kernel` (launch, tolerance, workspace extents) against the names that
/// will have values when it is judged: `known`. Throws ProblemError naming file, key, expression,
/// the unknown name and the known ones: found before a search and not by every candidate.
void require_known_names(const Problem& problem, const KernelSpec& kernel, const Values& known);

/// Holds the macros of a space (with its value names) against what the problem gives to the
/// compiler and to expressions itself: a name must not mean two things. Throws ProblemError naming
/// `space_file`, the macro and where else it is.
void require_own_macros(const Problem& problem, const std::vector<std::string>& macros,
                        const std::string& space_file);

}  // namespace evo
