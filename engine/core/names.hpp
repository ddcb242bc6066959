#pragma once

#include <set>
#include <string>
#include <string_view>

namespace evo {

/// True for [A-Za-z_][A-Za-z0-9_]*.
[[nodiscard]] bool is_identifier(std::string_view text);

/// The identifiers in any text. Comments and literals are no exception.
[[nodiscard]] std::set<std::string> names_in(std::string_view text);

/// Whether `text` may name a kernel: an identifier, or a C++ expression such as `ns::kernel` and
/// `kernel<float, TILE_N>`. Whether there is such a kernel is the compiler's to say.
[[nodiscard]] bool may_name_kernel(std::string_view text);

/// Why `name` cannot be a macro or a variable of expressions: it is no identifier, a word of C++ or
/// CUDA, reserved by the compiler, or has a meaning in every expression. Empty when it can.
[[nodiscard]] std::string why_no_macro(std::string_view name);

/// True for sm_89, sm_90a, sm_120f: what the compilers call an architecture.
[[nodiscard]] bool is_arch(std::string_view text);
inline constexpr std::string_view kAllowedArch =
    "allowed is an architecture, such as sm_89 or sm_90a";

/// What is allowed for names of spaces, problems, templates and shapes; they become parts of file
/// names, tables and commands.
inline constexpr std::string_view kAllowedName =
    "allowed are 1 to 100 letters, digits, '.', '_' and '-', the first one no '.' or '-'";

[[nodiscard]] bool is_plain_name(std::string_view name);

}  // namespace evo
