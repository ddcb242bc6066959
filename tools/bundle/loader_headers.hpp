#pragma once

#include <string>
#include <utility>
#include <vector>

namespace evo {

/// The headers of tools/loader that were embedded into this program: name and content.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> loader_headers();

}  // namespace evo
