#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Refuses at once what is certain to change one of `macros`, which the compiler is given beside
/// those of `options`: a `#define` or `#undef` in the file, or in a header that it includes, that
/// is reached whatever their values are. What else is reached the compiler says (kept_macros.hpp).
/// Comments, literals and continued lines are read as the compiler reads them. Throws InputError
/// naming file, line and macro.
void require_macros_kept(const KernelSource& source, const std::set<std::string>& macros,
                         const std::vector<std::string>& options = {});

/// Which of `macros` stand nowhere in the source or in a header, comments left out: all their
/// values are one kernel. Empty when that cannot be told, because names are made with `##`. What
/// lies in include paths is not read.
[[nodiscard]] std::vector<std::string> macros_never_read(const KernelSource& source,
                                                         const std::vector<std::string>& macros);

}  // namespace evo
