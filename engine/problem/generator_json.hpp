#pragma once

#include "engine/core/json_reader.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/generator.hpp"

namespace evo {

/// Reads the generator of an input of type `dtype`. Throws InputError (file, key, value, allowed
/// values) for invalid keys and values, also if `dtype` cannot hold the range; if all elements
/// would be equal under a distribution other than "constant"; or if "with" or "without" names
/// special values that do not apply to `dtype`.
[[nodiscard]] Generator parse_generator(const JsonReader& reader, Dtype dtype);

}  // namespace evo
