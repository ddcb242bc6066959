#pragma once

#include <set>
#include <string>
#include <string_view>

namespace evo {

/// True if `text` matches [A-Za-z_][A-Za-z0-9_]*.
[[nodiscard]] bool is_identifier(std::string_view text);

/// All identifiers in a text, including those in comments and literals.
[[nodiscard]] std::set<std::string> names_in(std::string_view text);

/// Whether `text` may name a kernel: an identifier, or a C++ expression such as `ns::kernel` or
/// `kernel<float, TILE_N>`. The compiler checks whether the kernel exists.
[[nodiscard]] bool may_name_kernel(std::string_view text);

/// Says why `name` cannot be a macro or a variable of expressions: it is no identifier, is a word
/// of C++ or CUDA, is too long, is reserved for the compiler, or has a meaning in every expression.
/// Returns an empty text if the name is allowed.
[[nodiscard]] std::string why_no_macro(std::string_view name);

/// True for the name of an architecture, as compilers use it: sm_89, sm_90a, sm_120f.
[[nodiscard]] bool is_arch(std::string_view text);
inline constexpr std::string_view kAllowedArch =
    "allowed: an architecture, such as sm_89 or sm_90a";

/// The allowed names of spaces, problems, templates and shapes. The names become parts of file
/// names, tables and commands.
inline constexpr std::string_view kAllowedName =
    "allowed: 1 to 100 letters, digits, '.', '_' and '-', not beginning with '.' or '-'";

[[nodiscard]] bool is_plain_name(std::string_view name);

/// `text` with lower-case letters in place of the capital letters of ASCII.
[[nodiscard]] std::string lower_case(std::string text);

}  // namespace evo
