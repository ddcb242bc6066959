#pragma once

#include "engine/compile/source.hpp"
#include "engine/intake/trial.hpp"

namespace evo {

/// Replaces the code of `source` that #if excludes, given `macros`, by spaces. If a condition
/// cannot be evaluated, for example because it names a macro of the compiler, all branches that it
/// might select are kept.
[[nodiscard]] KernelSource active_code(KernelSource source, const MacroTexts& macros);

}  // namespace evo
