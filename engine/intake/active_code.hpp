#pragma once

#include "engine/compile/source.hpp"
#include "engine/intake/trial.hpp"

namespace evo {

/// `source` with spaces in place of code that #if excludes for `macros`. If a condition cannot be
/// evaluated, for example because it names a macro of the compiler, all of its branches stay.
[[nodiscard]] KernelSource active_code(KernelSource source, const MacroTexts& macros);

}  // namespace evo
