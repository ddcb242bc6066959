#pragma once

#include "engine/core/tensor_map.hpp"
#include "engine/problem/dtype.hpp"

namespace evo {

/// The element type of a tensor map over a buffer of `dtype`. Tensor maps have no types for i8, i16
/// and 8-bit floats, so the unsigned integer type of the same size is used.
[[nodiscard]] TensorMapType tensor_map_type(Dtype dtype);

}  // namespace evo
