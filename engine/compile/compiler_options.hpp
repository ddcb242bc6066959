#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// What the options of a space are held against.
struct OptionRules {
  /// Macros that the space and the problem set: no option may define them.
  std::vector<std::string> taken_macros = {};
  /// Where a relative include path starts.
  std::filesystem::path base = {};
  /// Folders inside which an include path may lie.
  std::vector<std::filesystem::path> include_roots = {};
};

/// The options of a space's `compiler_options` in one spelling each, in their order. Only what
/// shapes the code is allowed: whatever writes or reads files, changes the architecture or is not
/// known is refused. Throws InputError naming the option and what is allowed.
///
///   -D NAME[=VALUE], -DNAME, --define-macro=NAME   → -DNAME[=VALUE]
///   -I DIR, -IDIR, --include-path=DIR              → -I<absolute, without links>
///   -maxrregcount 32, --maxrregcount=32            → --maxrregcount=32
///   -Xptxas -O2, --ptxas-options=-O2,-dlcm=cg      → --ptxas-options=--opt-level=2 …
[[nodiscard]] std::vector<std::string> normalised_options(const std::vector<std::string>& given,
                                                          const OptionRules& rules);

/// The folders of the -I among normalised options.
[[nodiscard]] std::vector<std::filesystem::path> include_folders(
    std::span<const std::string> options);

/// Whether functions without an annotation are the device's, in any spelling of the option.
[[nodiscard]] bool makes_all_device_code(std::span<const std::string> options);

/// Options as one text, quoted as in a shell where they hold more than plain characters.
[[nodiscard]] std::string join_options(std::span<const std::string> options);
/// The inverse.
[[nodiscard]] std::vector<std::string> split_options(std::string_view text);

/// Whether `path` is `folder` or lies in it; both absolute and without links.
[[nodiscard]] bool is_inside(const std::filesystem::path& path,
                             const std::filesystem::path& folder);

}  // namespace evo
