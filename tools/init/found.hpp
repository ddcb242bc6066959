#pragma once

#include <filesystem>

#include "engine/intake/intake.hpp"

namespace evo {

/// Prints the facts found in the code, and the lines of the drafts in `folder` that the user must
/// complete.
void print_found(const Intake& intake, const std::filesystem::path& folder);

}  // namespace evo
