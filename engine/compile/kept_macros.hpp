#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

/// A macro of the command line and its replacement.
using GivenMacro = std::pair<std::string, std::string>;

/// The macros that `-DNAME` and `-DNAME=VALUE` among `options` give to a compilation.
[[nodiscard]] std::vector<GivenMacro> given_macros(const std::vector<std::string>& options);

/// Directives for the end of a source. The compiler then reports each of `macros` that the source,
/// or any file that it includes from anywhere, has changed or undefined by then:
/// changed_macro_in() finds it in the log. They make no code.
[[nodiscard]] std::string macro_check(const std::vector<GivenMacro>& macros);

/// What a compiler's log says of the first of `macros` that does not keep its value, with file and
/// line where the compiler names them; nothing when all do. The kernel would run with another value
/// than its configuration says. The preprocessor itself decides which `#define` is reached.
[[nodiscard]] std::optional<std::string> changed_macro_in(std::string_view log,
                                                          const std::vector<GivenMacro>& macros,
                                                          const std::string& source_name);

}  // namespace evo
