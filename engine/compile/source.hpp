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

  /// One self-contained text: every include replaced by the file, once. For export.
  [[nodiscard]] std::string expanded() const;
};

/// Reads `file` and, recursively, what it includes by `#include "…"`: looked for beside the
/// including file, then in `root`. Throws InputError naming the file that is missing.
[[nodiscard]] KernelSource load_source(const std::filesystem::path& file,
                                       const std::filesystem::path& root);

}  // namespace evo
