#pragma once

#include "engine/compile/source.hpp"
#include "engine/intake/trial.hpp"

namespace evo {

/// `source` with blanks in place of what #if leaves out when the compiler gets `macros`. Where a
/// condition cannot be told, as that of a macro of the compiler, all of its branches stay.
[[nodiscard]] KernelSource active_code(KernelSource source, const MacroTexts& macros);

}  // namespace evo
