#pragma once

#include <filesystem>
#include <optional>

#include "engine/space/space.hpp"

namespace evo {

/// Looks in the folder of the file of `space` for spaces with the same problem, template and
/// architecture and a strictly more permissive resource policy. Returns the most permissive of
/// them. Skips files that are not spaces.
[[nodiscard]] std::optional<std::filesystem::path> find_wider_space(const SpaceDefinition& space);

}  // namespace evo
