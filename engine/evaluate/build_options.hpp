#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The normalised compiler options for a problem's include paths. Throws a ProblemError that lists
/// the allowed paths if a path is not allowed. `templates_root`: the folder that holds the folders
/// of all problems.
[[nodiscard]] std::vector<std::string> include_options_of(
    const Problem& problem, const std::filesystem::path& templates_root);

/// The normalised compiler options of a space and its problem, without the macros of a candidate.
/// Throws a SpaceError or ProblemError that lists the allowed options if an option is not allowed.
[[nodiscard]] std::vector<std::string> options_of_space(
    const Space& space, const Problem& problem, const std::filesystem::path& templates_root);

}  // namespace evo
