#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Files: where they are, and where they go beside the kernel, in pairs.
using Copies = std::vector<std::pair<std::filesystem::path, std::string>>;

/// The kernel and, in turn, what it includes from its own folder or, where that has no such file,
/// from one of `include_folders`. Those go where an include of their name finds them. Throws
/// InputError for a folder that is none, and for two files that go to one place.
[[nodiscard]] Copies copies_of(const std::filesystem::path& kernel,
                               const std::vector<std::filesystem::path>& include_folders);

/// The kernel's source as it will be beside its copies.
[[nodiscard]] KernelSource source_beside(const Copies& copies);

}  // namespace evo
