#pragma once

#include "engine/core/error.hpp"
#include "tools/tune/tune_options.hpp"

namespace evo {

/// Executes evo-tune:
///   1. Open the devices and compilers.
///   2. Divide the shapes by the macros with which they are compiled.
///   3. Make a search for the shapes of each build, one after the other. Each search gets an equal
///      share of the time that is left.
/// An interruption ends the command. With --resume, the command continues after the searches that
/// an earlier command finished.
[[nodiscard]] ExitCode tune(const TuneOptions& options);

}  // namespace evo
