#pragma once

#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// The values of a list in Python syntax, without running Python. Supports lists and tuples,
/// `range(…)`, `list(…)`, `a + b`, `[expression for i in … if …]` with several `for`, numbers in
/// any expression (core/expression.hpp), True, False, and quoted texts. A number is whole if its
/// value is whole and its text has no point. Throws InputError naming the unsupported part.
[[nodiscard]] std::vector<Json> python_list(std::string_view text);

/// Splits `text` at each `separator` outside of brackets and quotes, and strips spaces; empty for
/// an empty text.
[[nodiscard]] std::vector<std::string_view> split_outside(std::string_view text, char separator);

/// The text without leading and trailing spaces.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace evo
