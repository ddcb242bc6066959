#pragma once

#include <string>
#include <string_view>

#include "engine/core/json_reader.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The expression under `key`; `fallback`, unless empty, where there is none. Throws InputError
/// naming the key when it is no expression.
[[nodiscard]] Expression parse_expression(const JsonReader& reader, std::string_view key,
                                          const std::string& fallback = {});

/// An entry of a problem's "arguments". Throws InputError naming key, value and what is allowed.
[[nodiscard]] Argument parse_argument(const JsonReader& reader);

}  // namespace evo
