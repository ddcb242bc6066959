#pragma once

#include <filesystem>
#include <optional>

#include "engine/space/space.hpp"

namespace evo {

/// A space file beside `space`'s own with the same problem, template and architecture whose policy
/// allows everything that this one's does, and more; the most generous of several. Files that are
/// no spaces are passed over.
[[nodiscard]] std::optional<std::filesystem::path> find_wider_space(const SpaceDefinition& space);

}  // namespace evo
