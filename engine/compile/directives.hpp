#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A preprocessing directive of a C++ source: `#include "x.cuh" // why`.
struct Directive {
  std::size_t begin = 0;  ///< of its line in the text
  std::size_t end = 0;    ///< behind the end of its last line
  std::size_t line = 1;   ///< number of its first line
  std::size_t lines = 1;  ///< how many lines it takes
  std::string name;       ///< "include"
  std::string argument;   ///< the rest, without comments, spliced lines and blanks at the ends
};

/// All directives of `text` in order, found as a compiler finds them: not in comments, strings or
/// raw strings, also behind comments, across spliced lines and spelled `%:`. What #if leaves out is
/// there as well.
[[nodiscard]] std::vector<Directive> directives_of(std::string_view text);

/// #include, #include_next or #import.
[[nodiscard]] bool includes(const Directive& directive);

/// The name in the argument of an #include, `"name"` or `<name>`; nothing for anything else.
[[nodiscard]] std::optional<std::string> included_name(const Directive& directive);

}  // namespace evo
