#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Files as pairs: the present path, and the new path relative to the kernel.
using Copies = std::vector<std::pair<std::filesystem::path, std::string>>;

/// The kernel and, recursively, the headers that it includes from its own folder, else from one of
/// `include_folders`. Their new paths are such that the includes find them. Throws InputError if a
/// folder does not exist, and if two files get the same path.
[[nodiscard]] Copies copies_of(const std::filesystem::path& kernel,
                               const std::vector<std::filesystem::path>& include_folders);

/// The kernel's source as it will be beside its copies.
[[nodiscard]] KernelSource source_beside(const Copies& copies);

}  // namespace evo
