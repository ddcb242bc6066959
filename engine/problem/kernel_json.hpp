#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The name of the reference kernel.
inline constexpr std::string_view kReference = "reference";

/// Parses the reference kernel or a template of problem.json. `tolerance`: the problem's tolerance;
/// `folder`: the problem's folder; `parameters`: names of the arguments that a step may list.
/// Throws InputError naming key, value and the allowed values.
[[nodiscard]] KernelSpec parse_kernel(const JsonReader& reader, const std::string& name,
                                      const JsonReader& tolerance,
                                      const std::filesystem::path& folder,
                                      const std::vector<std::string>& parameters);

}  // namespace evo
