#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Detects, before compiling, each `#define` and `#undef` of one of `macros`, in the source or in
/// an included header, that is compiled for all values of the macros. Compiler options `options`
/// may define further macros, which decide which lines are compiled. The compiler detects a
/// `#define` or `#undef` that is compiled only for some values (kept_macros.hpp). Comments,
/// literals and continued lines are read as a compiler reads them. Throws InputError naming file,
/// line and macro.
void require_macros_kept(const KernelSource& source, const std::set<std::string>& macros,
                         const std::vector<std::string>& options = {});

/// The names in `macros` that neither the source nor its headers mention outside of comments. All
/// values of a macro that no code mentions give the same kernel. Empty if the source makes names
/// with `##`, because such names may be those of the macros. Files in include paths are not read.
[[nodiscard]] std::vector<std::string> macros_never_read(const KernelSource& source,
                                                         const std::vector<std::string>& macros);

}  // namespace evo
