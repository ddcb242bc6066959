#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The compiler options for a problem's include paths, normalised. Throws ProblemError if a path is
/// not allowed, and lists the allowed paths. `templates_root`: the folder of problems.
[[nodiscard]] std::vector<std::string> include_options_of(
    const Problem& problem, const std::filesystem::path& templates_root);

/// The compiler options of a space and its problem, normalised, without the macros of a candidate.
/// Throws SpaceError or ProblemError if an option is not allowed, and lists the allowed options.
[[nodiscard]] std::vector<std::string> options_of_space(
    const Space& space, const Problem& problem, const std::filesystem::path& templates_root);

}  // namespace evo
