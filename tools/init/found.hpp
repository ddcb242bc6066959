#pragma once

#include <filesystem>

#include "engine/intake/intake.hpp"

namespace evo {

/// Prints what the code says and which lines of the drafts in `folder` somebody has to write.
void print_found(const Intake& intake, const std::filesystem::path& folder);

}  // namespace evo
