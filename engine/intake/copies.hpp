#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Files to copy, as pairs: the present path, and the new path relative to the folder of the
/// kernel's copy.
using Copies = std::vector<std::pair<std::filesystem::path, std::string>>;

/// The kernel and, recursively, the headers that it includes from its own folder or from one of
/// `include_folders`. The #include lines of the copies find the headers at their new paths. Throws
/// InputError if a folder does not exist, if `#include "x.h"` names no file or one outside of the
/// folder in which it is found, or if two files would get the same new path.
[[nodiscard]] Copies copies_of(const std::filesystem::path& kernel,
                               const std::vector<std::filesystem::path>& include_folders);

/// Reads the kernel's source as it will be after copying.
[[nodiscard]] KernelSource source_beside(const Copies& copies);

}  // namespace evo
