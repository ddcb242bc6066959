#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/bundle/index.hpp"

namespace evo {

/// In the first line of the files that depend on the bundle: evo-export may replace them.
inline constexpr std::string_view kWrittenByExport = "Written by evo-export";

/// What lets a C++ program use a bundle by one call: <name>.hpp with a typed function,
/// <name>Config.cmake for find_package(), and the loader's headers. Names and contents. Throws
/// InputError unless the bundle's name is a C identifier that is no word of C++ or CUDA.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> cpp_files(const Bundle& bundle);

}  // namespace evo
