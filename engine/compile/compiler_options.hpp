#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The rules by which compiler options are checked.
struct OptionRules {
  /// Macros set by the space and the problem, which no option may define.
  std::vector<std::string> taken_macros = {};
  /// The folder to which include paths are relative.
  std::filesystem::path base = {};
  /// Folders in which include paths must lie.
  std::vector<std::filesystem::path> include_roots = {};
};

/// Normalises the spelling of a space's `compiler_options` and keeps their order. Allows only the
/// options of compiler_options() and assembler_options() (allowed_options.hpp), and leaves out
/// ptxas' option -v, which is always set. Throws InputError naming the option and the allowed
/// options or values.
///
///   -D NAME[=VALUE], -DNAME, --define-macro=NAME   → -DNAME[=VALUE]
///   -I DIR, -IDIR, --include-path=DIR              → -I<absolute, without links>
///   -maxrregcount 32, --maxrregcount=32            → --maxrregcount=32
///   -Xptxas -O2, --ptxas-options=-O2,-dlcm=cg      → --ptxas-options=--opt-level=2 …
[[nodiscard]] std::vector<std::string> normalised_options(const std::vector<std::string>& given,
                                                          const OptionRules& rules);

/// The folders of the -I options in normalised options.
[[nodiscard]] std::vector<std::filesystem::path> include_folders(
    std::span<const std::string> options);

/// Whether `options` contain --device-as-default-execution-space or its short spelling
/// -default-device, with which functions without an annotation are device functions.
[[nodiscard]] bool makes_all_device_code(std::span<const std::string> options);

/// Joins the options to one text, with shell quotes where they are needed.
[[nodiscard]] std::string join_options(std::span<const std::string> options);
/// The inverse of join_options().
[[nodiscard]] std::vector<std::string> split_options(std::string_view text);

/// Whether `path` is `folder` or lies inside it. Both paths are absolute and contain no links.
[[nodiscard]] bool is_inside(const std::filesystem::path& path,
                             const std::filesystem::path& folder);

}  // namespace evo
