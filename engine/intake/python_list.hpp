#pragma once

#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"

namespace evo {

/// The values of a list as Python spells it; nothing of Python is run. Known are lists and tuples,
/// `range(…)`, `list(…)`, `a + b`, `[expression for i in … if …]` with several `for`, numbers in
/// any expression (core/expression.hpp), True, False, and texts in quotes. A number is whole where
/// its value is and its text has no point. Throws InputError saying what cannot be read.
[[nodiscard]] std::vector<Json> python_list(std::string_view text);

/// The parts of `text` between `separator` where no bracket or quote is open, without the blanks
/// around them; none of an empty text.
[[nodiscard]] std::vector<std::string_view> split_outside(std::string_view text, char separator);

/// Without the blanks at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace evo
