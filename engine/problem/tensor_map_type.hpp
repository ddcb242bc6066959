#pragma once

#include "engine/core/tensor_map.hpp"
#include "engine/problem/dtype.hpp"

namespace evo {

/// The type of a map over a buffer of `dtype`. A map has no i8, i16 or 8-bit floats: it takes
/// unsigned numbers of their size.
[[nodiscard]] TensorMapType tensor_map_type(Dtype dtype);

}  // namespace evo
