#include "engine/evaluate/build_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/toolkit.hpp"
#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

std::vector<std::string> as_options(const std::vector<std::string>& include_paths) {
  std::vector<std::string> options;
  for (const std::string& path : include_paths) {
    options.emplace_back("-I");
    options.push_back(path);
  }
  return options;
}

void append(std::vector<std::string>& options, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(options));
}

/// The folders in which include paths may lie: the parent of the problems' folder, a CUDA Toolkit,
/// and the folders that the user names in EVO_INCLUDE_PATH. Other folders are refused, because a
/// space must not read arbitrary files of the machine.
std::vector<std::filesystem::path> include_roots(const std::filesystem::path& templates_root) {
  const std::filesystem::path project = templates_root.parent_path();
  std::vector<std::filesystem::path> roots = {project.has_relative_path() ? project
                                                                          : templates_root};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment_variable(variable)) {
      roots.push_back(std::filesystem::path(*root) / "include");
    }
  }
  roots.emplace_back("/usr/local/cuda/include");
  for (const std::filesystem::path& folder : toolkit_include_folders()) roots.push_back(folder);
  if (const auto named = environment_variable("EVO_INCLUDE_PATH")) {
    std::istringstream folders(*named);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (!folder.empty()) roots.emplace_back(folder);
    }
  }
  return roots;
}

}  // namespace

std::vector<std::string> include_options_of(const Problem& problem,
                                            const std::filesystem::path& templates_root) {
  OptionRules rules;
  rules.base = problem.folder;
  rules.include_roots = include_roots(templates_root);
  try {
    return normalised_options(as_options(problem.include_paths), rules);
  } catch (const InputError& error) {
    throw ProblemError((problem.folder / "problem.json").string() +
                       ": include_paths: " + error.what());
  }
}

std::vector<std::string> options_of_space(const Space& space, const Problem& problem,
                                          const std::filesystem::path& templates_root) {
  OptionRules rules;
  rules.base = std::filesystem::absolute(space.definition().file).parent_path();
  rules.include_roots = include_roots(templates_root);
  for (const auto& [name, value] : space.macros(space.defaults())) {
    rules.taken_macros.push_back(name);
  }
  for (const auto& [name, expression] : problem.shape_macros) {
    const auto& taken = rules.taken_macros;
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
      throw SpaceError(space.definition().file + ": parameters: macro '" + name +
                       "' is also among the \"macros\" of problem '" + problem.name +
                       "'; either the space or the problem may set it, not both");
    }
    rules.taken_macros.push_back(name);
  }
  std::vector<std::string> options;
  try {
    options = normalised_options(space.definition().compiler_options, rules);
  } catch (const InputError& error) {
    throw SpaceError(space.definition().file + ": compiler_options: " + error.what());
  }
  try {
    append(options, normalised_options(as_options(space.definition().include_paths), rules));
  } catch (const InputError& error) {
    throw SpaceError(space.definition().file + ": include_paths: " + error.what());
  }
  append(options, include_options_of(problem, templates_root));
  return options;
}

}  // namespace evo
