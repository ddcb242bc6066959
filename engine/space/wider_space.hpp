#pragma once

#include <filesystem>
#include <optional>

#include "engine/space/space.hpp"

namespace evo {

/// Searches the folder of the space file of `space` for another space file with the same problem,
/// template and architecture whose resource policy is more permissive. Returns the path of the most
/// permissive one; nullopt if there is none. If neither of two policies is more permissive than the
/// other, the first file by name counts. Skips files that are not space files.
[[nodiscard]] std::optional<std::filesystem::path> find_wider_space(const SpaceDefinition& space);

}  // namespace evo
