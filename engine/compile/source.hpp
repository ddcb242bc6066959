#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace evo {

/// A kernel's source with every file it includes.
struct KernelSource {
  std::string name;  ///< file name, for messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< include name → text
  /// Names of includes that are left to the compiler and its include paths.
  std::vector<std::string> outside = {};

  [[nodiscard]] bool operator==(const KernelSource&) const = default;

  /// One self-contained text that compiles to the same code: in place of every include the file,
  /// with #line so that lines keep their numbers; `#pragma once` becomes a macro, and the file is
  /// there once unless a condition stands around it. What comes from an include path stays
  /// included. Throws InputError when a file includes itself without `#pragma once` or an include
  /// guard at its top, or when the text grows beyond 16 MB.
  [[nodiscard]] std::string expanded() const;
};

/// Reads `file` and, recursively, what it includes by `#include "…"`: looked for beside the
/// including file, then in `root`; what is in neither is a stand-in for a standard header
/// (standard_headers.hpp) or, in one of `include_folders`, left to the compiler. All of it must lie
/// in `root`, links followed. Throws InputError naming file, line and include: missing, outside,
/// not named by its own name, or two files under one name.
[[nodiscard]] KernelSource load_source(
    const std::filesystem::path& file, const std::filesystem::path& root,
    const std::vector<std::filesystem::path>& include_folders = {});

}  // namespace evo
