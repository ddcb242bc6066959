#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

/// A macro from the command line and its value.
using GivenMacro = std::pair<std::string, std::string>;

/// The macros defined by `-DNAME` and `-DNAME=VALUE` in `options`.
[[nodiscard]] std::vector<GivenMacro> given_macros(const std::vector<std::string>& options);

/// Directives to append to a source. They make the compiler report each of `macros` that the source
/// or any included file has changed or undefined. changed_macro_in() finds this report in the log.
/// The directives generate no code.
[[nodiscard]] std::string macro_check(const std::vector<GivenMacro>& macros);

/// The report in a compiler's log for the first of `macros` that changed its value, with file and
/// line if the compiler names them; empty if none changed. A kernel with a changed macro would not
/// match its configuration. The preprocessor itself decides which `#define` is active.
[[nodiscard]] std::optional<std::string> changed_macro_in(std::string_view log,
                                                          const std::vector<GivenMacro>& macros,
                                                          const std::string& source_name);

}  // namespace evo
