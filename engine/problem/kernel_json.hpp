#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The name of the reference's kernel.
inline constexpr std::string_view kReference = "reference";

/// A kernel of problem.json. `tolerance`: the problem's, `folder`: where its source stands,
/// `parameters`: names of the arguments that steps may take. Throws InputError naming key, value
/// and what is allowed.
[[nodiscard]] KernelSpec parse_kernel(const JsonReader& reader, const std::string& name,
                                      const JsonReader& tolerance,
                                      const std::filesystem::path& folder,
                                      const std::vector<std::string>& parameters);

}  // namespace evo
