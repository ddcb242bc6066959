#pragma once

#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// Evaluates a list in Python syntax without Python. Supports lists and tuples, `range(…)`,
/// `list(…)`, `tuple(…)`, `sorted(…)` without options, `a + b`, `[expression for i in … if …]` with
/// several `for`, numeric expressions (core/expression.hpp), True, False, and quoted texts. A value
/// is an integer if it is whole and its text has no decimal point. Throws InputError naming the
/// unsupported part.
[[nodiscard]] std::vector<Json> python_list(std::string_view text);

/// Splits `text` at each `separator` outside of brackets and quotes, and strips spaces. Returns an
/// empty list for an empty text.
[[nodiscard]] std::vector<std::string_view> split_outside(std::string_view text, char separator);

/// `text` without leading and trailing white space.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace evo
