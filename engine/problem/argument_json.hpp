#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The expression under `key`, or `fallback` (unless empty) if the key is absent. Throws InputError
/// naming the key if the value is no expression.
[[nodiscard]] Expression parse_expression(const JsonReader& reader, std::string_view key,
                                          const std::string& fallback = {});

/// The list of 1 to `most` expressions under `key`.
[[nodiscard]] std::vector<Expression> parse_expressions(const JsonReader& reader,
                                                        std::string_view key, std::size_t most);

/// Parses an entry of a problem's "arguments". Throws InputError naming key, value and the allowed
/// values.
[[nodiscard]] Argument parse_argument(const JsonReader& reader);

}  // namespace evo
