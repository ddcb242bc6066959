#pragma once

#include <string>

namespace evo {

/// The version stored with results: the version and the git revision, "0.1.0+g83d529f"; only the
/// version if the program was built outside a git repository.
[[nodiscard]] std::string full_version();

}  // namespace evo
