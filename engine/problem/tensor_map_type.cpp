#include "engine/problem/tensor_map_type.hpp"

namespace evo {

TensorMapType tensor_map_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return TensorMapType::kF16;
    case Dtype::kBf16:
      return TensorMapType::kBf16;
    case Dtype::kU16:
    case Dtype::kI16:
      return TensorMapType::kU16;
    case Dtype::kF32:
      return TensorMapType::kF32;
    case Dtype::kU32:
      return TensorMapType::kU32;
    case Dtype::kI32:
      return TensorMapType::kS32;
    case Dtype::kF64:
      return TensorMapType::kF64;
    case Dtype::kU64:
      return TensorMapType::kU64;
    case Dtype::kI64:
      return TensorMapType::kS64;
    default:
      return TensorMapType::kU8;
  }
}

}  // namespace evo
