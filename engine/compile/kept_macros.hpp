#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

/// Name and value of a macro that a compiler option defines.
using GivenMacro = std::pair<std::string, std::string>;

/// The macros that `-DNAME` and `-DNAME=VALUE` in `options` define.
[[nodiscard]] std::vector<GivenMacro> given_macros(const std::vector<std::string>& options);

/// Directives to append to a source. The appended directives make the compiler report each of
/// `macros` that the source or an included file redefines with another value or undefines.
/// changed_macro_in() finds this report in the log. The appended directives generate no code.
[[nodiscard]] std::string macro_check(const std::vector<GivenMacro>& macros);

/// Reports the first of `macros` that, according to the compiler's `log`, the source redefines with
/// another value or undefines, with file and line if the compiler names them; nullopt if the source
/// changes no macro. A kernel with a changed macro would not match its configuration. The report
/// comes from the compiler, because its preprocessor knows which `#define` is active.
[[nodiscard]] std::optional<std::string> changed_macro_in(std::string_view log,
                                                          const std::vector<GivenMacro>& macros,
                                                          const std::string& source_name);

}  // namespace evo
