#pragma once

#include "engine/core/error.hpp"
#include "tools/init/init_options.hpp"

namespace evo {

/// Writes the drafts; prints the facts found in the code and the parts that the user must write.
/// Throws InputError.
[[nodiscard]] ExitCode init(InitOptions options);

}  // namespace evo
