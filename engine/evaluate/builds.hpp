#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// Shapes for which kernels are compiled with the same macros of the problem.
struct ShapesOfBuild {
  std::vector<std::string> shapes;  ///< at least one
  std::string macros;               ///< see macros_text()

  /// The names of the shapes, separated by commas, as --shape takes them.
  [[nodiscard]] std::string names() const;
};

/// Divides shapes by their macros. `shapes`: see TuningTask. The builds, and the shapes of each
/// build, are in the order in which `shapes` names them. Throws as TuningTask does if the files
/// cannot be read or a shape is unknown.
[[nodiscard]] std::vector<ShapesOfBuild> builds_of(const std::filesystem::path& space_file,
                                                   const std::string& shapes);

/// The macros that the problem defines for a shape: "CAUSAL=1 D=64".
[[nodiscard]] std::string macros_text(const Problem& problem, const Shape& shape);

/// Finds the folder kernel_templates/, which holds the problems, either next to the folder of the
/// space file or in the folder of the space file. Throws SpaceError if there is none.
[[nodiscard]] std::filesystem::path find_templates_root(const SpaceDefinition& space);

}  // namespace evo
