#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evo {

/// The element type of a tensor map, with the values of CUtensorMapDataType (cuda.h).
enum class TensorMapType : std::uint8_t {
  kU8 = 0,
  kU16 = 1,
  kU32 = 2,
  kS32 = 3,
  kU64 = 4,
  kS64 = 5,
  kF16 = 6,
  kF32 = 7,
  kF64 = 8,
  kBf16 = 9,
};

inline constexpr std::size_t kMostTensorDimensions = 5;

/// Size of a CUtensorMap in bytes.
inline constexpr std::size_t kTensorMapBytes = 128;

/// A tensor map over a buffer: the arguments of cuTensorMapEncodeTiled. Lists begin with the
/// innermost dimension, whose elements are adjacent. The interleave is always
/// CU_TENSOR_MAP_INTERLEAVE_NONE, and elements outside of the tensor read as 0.
struct TensorMapSpec {
  std::string name;  ///< name for messages
  TensorMapType type = TensorMapType::kF32;
  std::vector<std::uint64_t> dims;  ///< in elements
  /// Bytes between neighbouring elements along each dimension except for the innermost.
  std::vector<std::uint64_t> strides;
  std::vector<std::uint32_t> box;              ///< the elements that one copy spans
  std::vector<std::uint32_t> element_strides;  ///< a copy takes every n-th element of the box
  std::uint32_t swizzle_bytes = 0;             ///< 0 (none), 32, 64 or 128
  std::uint32_t l2_promotion_bytes = 0;        ///< 0 (none), 64, 128 or 256
};

[[nodiscard]] std::size_t element_bytes(TensorMapType type);
/// Number of bytes from the first element to the end of the last element.
[[nodiscard]] std::uint64_t extent_bytes(const TensorMapSpec& spec);
/// The strides in bytes of a dense tensor with the dimensions `dims`, without the innermost.
[[nodiscard]] std::vector<std::uint64_t> dense_strides(const std::vector<std::uint64_t>& dims,
                                                       TensorMapType type);

/// Throws InputError, naming the map, the fault and the allowed values, unless
/// cuTensorMapEncodeTiled accepts the map (CUDA Driver API, "Tensor Map Object Management") and the
/// tensor lies within a buffer of `buffer_bytes` bytes.
void check_tensor_map(const TensorMapSpec& spec, std::size_t buffer_bytes);

}  // namespace evo
