#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// Reads the expression under `key`; if the key is absent, returns `fallback`. Throws InputError
/// naming the key if its value is not an expression, or if the key is absent and `fallback` is
/// empty.
[[nodiscard]] Expression parse_expression(const JsonReader& reader, std::string_view key,
                                          const std::string& fallback = {});

/// Reads the list of 1 to `most` expressions under `key`.
[[nodiscard]] std::vector<Expression> parse_expressions(const JsonReader& reader,
                                                        std::string_view key, std::size_t most);

/// Parses an entry of a problem's "arguments". Throws InputError naming key, value and the allowed
/// values.
[[nodiscard]] Argument parse_argument(const JsonReader& reader);

}  // namespace evo
