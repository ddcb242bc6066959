#pragma once

#include <filesystem>
#include <optional>

#include "engine/space/space.hpp"

namespace evo {

/// Looks beside `space`'s file for a space with the same problem, template and architecture whose
/// resource policy is strictly more permissive. Returns the most permissive one. Skips files that
/// are not spaces.
[[nodiscard]] std::optional<std::filesystem::path> find_wider_space(const SpaceDefinition& space);

}  // namespace evo
