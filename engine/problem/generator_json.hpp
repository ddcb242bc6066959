#pragma once

#include "engine/core/json_reader.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/generator.hpp"

namespace evo {

/// Reads the generator of an input of type `dtype`. Throws InputError (file, key, value, allowed
/// values) for a range outside of `dtype`; for a distribution with equal elements (a constant input
/// must say so); and for names in "with" and "without" (SpecialValues) that do not apply to
/// `dtype`.
[[nodiscard]] Generator parse_generator(const JsonReader& reader, Dtype dtype);

}  // namespace evo
