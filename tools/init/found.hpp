#pragma once

#include <filesystem>

#include "engine/intake/intake.hpp"

namespace evo {

/// Prints the facts found in the code, and the lines that the user must complete in the drafts in
/// `folder`.
void print_found(const Intake& intake, const std::filesystem::path& folder);

}  // namespace evo
