#pragma once

#include "engine/core/json_reader.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/generator.hpp"

namespace evo {

/// Reads the generator of an input of type `dtype`. Throws InputError (file, key, value, what is
/// allowed) for a range that `dtype` does not hold, and for a distribution whose elements would all
/// be equal: an input that is meant to be constant says so; and for words of "with" and "without"
/// (SpecialValues) that mean nothing for `dtype`.
[[nodiscard]] Generator parse_generator(const JsonReader& reader, Dtype dtype);

}  // namespace evo
