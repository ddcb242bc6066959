#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace evo {

/// A kernel's source, and the texts of the files that it includes, except for the files in
/// `outside`.
struct KernelSource {
  std::string name;  ///< file name for messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< include name → text of the file
  /// Names of included files that the compiler finds in its include paths.
  std::vector<std::string> outside = {};

  [[nodiscard]] bool operator==(const KernelSource&) const = default;

  /// Returns the source as one text that compiles to the same code without other files of the
  /// problem: each #include is replaced by the content of the file, with #line directives that keep
  /// the line numbers. `#pragma once` becomes a macro; a file with `#pragma once` appears once
  /// unless its include is conditional. Each #include of a file in an include path stays in the
  /// text. Throws InputError if a file without `#pragma once` or an include guard at its top
  /// includes itself, if includes are nested deeper than 200, or if the text exceeds 16 MiB.
  [[nodiscard]] std::string expanded() const;
};

/// Reads `file` and, recursively, the files that it includes. `#include "x"` is searched in the
/// folder of the including file, then in `root`, then among the replacements of standard headers
/// (standard_headers.hpp). `#include <x>` is searched in `root`, then among the replacements, and
/// in the folder of the including file only if neither these nor `include_folders` have it. The
/// compiler itself reads headers in `include_folders`. All files read here must lie in `root` after
/// following links. Throws InputError naming file, line and #include if a file is missing, lies
/// outside of `root`, is no text file of at most 16 MiB, or has the same include name as another
/// file.
[[nodiscard]] KernelSource load_source(
    const std::filesystem::path& file, const std::filesystem::path& root,
    const std::vector<std::filesystem::path>& include_folders = {});

}  // namespace evo
