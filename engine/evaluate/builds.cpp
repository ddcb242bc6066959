#include "engine/evaluate/builds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/formulas.hpp"

namespace evo {

std::string ShapesOfBuild::names() const { return fmt::format("{}", fmt::join(shapes, ",")); }

std::vector<ShapesOfBuild> builds_of(const std::filesystem::path& space_file,
                                     const std::string& shapes) {
  const SpaceDefinition space = read_space_file(space_file);
  const Problem problem = Problem::load(find_templates_root(space) / space.problem);
  std::vector<ShapesOfBuild> builds;
  for (const Shape* shape : problem.select_shapes(shapes.empty() ? space.shape : shapes,
                                                  problem.kernel(space.template_name))) {
    const std::string macros = macros_text(problem, *shape);
    auto build = std::ranges::find(builds, macros, &ShapesOfBuild::macros);
    if (build == builds.end()) build = builds.insert(build, {{}, macros});
    build->shapes.push_back(shape->name);
  }
  return builds;
}

std::string macros_text(const Problem& problem, const Shape& shape) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : problem.macros_for(shape)) {
    texts.push_back(name + "=" + formula_of(value));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::filesystem::path find_templates_root(const SpaceDefinition& space) {
  const std::filesystem::path folder = std::filesystem::absolute(space.file).parent_path();
  for (const auto& root :
       {folder.parent_path() / "kernel_templates", folder / "kernel_templates"}) {
    std::error_code unknown;
    if (std::filesystem::is_directory(root / space.problem, unknown)) return root;
  }
  throw SpaceError(space.file + ": problem: \"" + space.problem +
                   "\": no folder kernel_templates/" + space.problem + " beside or in " +
                   folder.string());
}

}  // namespace evo
