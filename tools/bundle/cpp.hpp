#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/bundle/index.hpp"

namespace evo {

/// Marks the first line of files that depend on the bundle; evo-export may replace such files.
inline constexpr std::string_view kWrittenByExport = "Written by evo-export";

/// The files, as (name, content), with which a C++ program calls a bundle: <name>.hpp with a typed
/// function, <name>Config.cmake for find_package(), and the loader's headers. Throws InputError
/// if why_no_macro() rejects the bundle's name, for example because it is a reserved word of C++.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> cpp_files(const Bundle& bundle);

}  // namespace evo
