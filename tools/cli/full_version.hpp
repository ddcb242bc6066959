#pragma once

#include <string>

namespace evo {

/// What is stored with results: the version and the git revision that was built, "0.1.0+g83d529f";
/// the version alone where it was built outside of a repository.
[[nodiscard]] std::string full_version();

}  // namespace evo
