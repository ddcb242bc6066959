#include "engine/device/cuda/cuda_tensor_map.hpp"

#include <spdlog/spdlog.h>

#include <vector>

namespace evo {
namespace {

// The enumerators of TensorMapType have the driver's values.
static_assert(static_cast<int>(TensorMapType::kU8) == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(static_cast<int>(TensorMapType::kF32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(static_cast<int>(TensorMapType::kBf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);

CUtensorMapSwizzle swizzle_of(std::uint32_t bytes) {
  return bytes == 32    ? CU_TENSOR_MAP_SWIZZLE_32B
         : bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                        : CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapL2promotion promotion_of(std::uint32_t bytes) {
  return bytes == 64    ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
         : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
         : bytes == 256 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                        : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

}  // namespace

std::variant<CUtensorMap, CUresult> encode_tensor_map(const CudaDriver& driver,
                                                      const TensorMapSpec& spec, CUdeviceptr base) {
  static_assert(sizeof(CUtensorMap) == kTensorMapBytes);
  const std::vector<cuuint64_t> dims(spec.dims.begin(), spec.dims.end());
  std::vector<cuuint64_t> strides(spec.strides.begin(), spec.strides.end());
  strides.resize(spec.dims.size());  // the driver refuses null, even for one dimension
  const std::vector<cuuint32_t> box(spec.box.begin(), spec.box.end());
  const std::vector<cuuint32_t> steps(spec.element_strides.begin(), spec.element_strides.end());
  CUtensorMap map = {};
  const CUresult made = driver.cuTensorMapEncodeTiled(
      &map, static_cast<CUtensorMapDataType>(spec.type), static_cast<cuuint32_t>(dims.size()),
      reinterpret_cast<void*>(base),  // NOLINT(performance-no-int-to-ptr): the driver's type
      dims.data(), strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle_of(spec.swizzle_bytes), promotion_of(spec.l2_promotion_bytes),
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made == CUDA_SUCCESS) return map;
  spdlog::warn("cuTensorMapEncodeTiled refuses tensor map '{}': {}", spec.name,
               driver.describe(made));
  return made;
}

}  // namespace evo
