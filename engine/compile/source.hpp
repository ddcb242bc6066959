#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace evo {

/// A kernel's source with every file it includes.
struct KernelSource {
  std::string name;  ///< file name for messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< include name → text
  /// Names of includes that are left to the compiler and its include paths.
  std::vector<std::string> outside = {};

  [[nodiscard]] bool operator==(const KernelSource&) const = default;

  /// One self-contained text that compiles to the same code. Each include is replaced by the file,
  /// with #line directives that keep the line numbers. `#pragma once` becomes a macro, and such a
  /// file appears once unless a condition surrounds its include. Includes from an include path
  /// stay. Throws InputError if a file without `#pragma once` or an include guard at its top
  /// includes itself, or if the text exceeds 16 MB.
  [[nodiscard]] std::string expanded() const;
};

/// Reads `file` and, recursively, the files that it includes by `#include "…"`. Each is searched
/// beside the including file, then in `root`. A name found in neither place is a standard header,
/// for which a stand-in is used (standard_headers.hpp), or is left to the compiler if it lies in
/// one of `include_folders`. All files must lie in `root` after following links. Throws InputError
/// naming file, line and include if a file is missing, lies outside, is spelled differently on
/// disk, or shares its name with another file.
[[nodiscard]] KernelSource load_source(
    const std::filesystem::path& file, const std::filesystem::path& root,
    const std::vector<std::filesystem::path>& include_folders = {});

}  // namespace evo
