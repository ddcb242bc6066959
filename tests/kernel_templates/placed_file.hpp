#pragma once

#include <filesystem>
#include <string>

#include "engine/device/arch_limits.hpp"
#include "engine/evaluate/validity.hpp"

namespace evo {

/// Reads a space file for one shape of its problem and for the limits of its architecture.
/// `templates`: the folder kernel_templates. `shape`: if empty, the timed shape of the space file.
inline SpaceDefinition placed_file(const std::filesystem::path& file,
                                   const std::filesystem::path& templates,
                                   const std::string& shape = "") {
  const SpaceDefinition space = read_space_file(file);
  const Problem problem = Problem::load(templates / space.problem);
  return placed_space(space, problem, problem.kernel(space.template_name),
                      problem.shape(shape.empty() ? space.shape : shape), arch_limits(space.arch));
}

}  // namespace evo
