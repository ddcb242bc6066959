#pragma once

#include "engine/problem/problem.hpp"

namespace evo {

/// Checks before the search that the expressions of `kernel` (such as launch, tolerance and
/// workspace extents) and of the scalars and tensor maps use only names in `known`, because an
/// unknown name would reject each candidate. Throws ProblemError naming file, key, expression, the
/// unknown name and the known names.
void require_known_names(const Problem& problem, const KernelSpec& kernel, const Values& known);

/// Checks that no macro of a space, and no name of a macro's value (such as SWIZZLE_XOR), has a
/// second definition in the problem, as a compiler macro or as a name in expressions. Throws
/// ProblemError naming `space_file`, the macro and its other definition.
void require_own_macros(const Problem& problem, const std::vector<std::string>& macros,
                        const std::string& space_file);

}  // namespace evo
