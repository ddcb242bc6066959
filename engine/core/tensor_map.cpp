#include "engine/core/tensor_map.hpp"

#include <fmt/format.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr std::uint64_t kMostElements = 1ULL << 32;  ///< elements of one dimension
constexpr std::uint64_t kMostStride = 1ULL << 40;
constexpr std::uint32_t kMostBox = 256;
constexpr std::uint32_t kMostElementStride = 8;
constexpr std::uint64_t kAlignment = 16;

[[noreturn]] void refuse(const TensorMapSpec& spec, const std::string& what) {
  throw InputError("tensor map '" + spec.name + "': " + what);
}

void check_rank(const TensorMapSpec& spec) {
  const std::size_t rank = spec.dims.size();
  if (rank < 1 || rank > kMostTensorDimensions)
    refuse(spec, fmt::format("{} dims: allowed: 1 to {}", rank, kMostTensorDimensions));
  const auto require = [&](const char* key, std::size_t count, std::size_t wanted) {
    if (count != wanted)
      refuse(spec, fmt::format("{} {}: {} dims need {}", count, key, rank, wanted));
  };
  require("strides", spec.strides.size(), rank - 1);
  require("numbers in box", spec.box.size(), rank);
  require("element_strides", spec.element_strides.size(), rank);
}

void check_dimension(const TensorMapSpec& spec, std::size_t i) {
  if (spec.dims[i] < 1 || spec.dims[i] > kMostElements)
    refuse(spec, fmt::format("dims[{}] is {}: allowed: 1 to 2^32", i, spec.dims[i]));
  if (spec.box[i] < 1 || spec.box[i] > kMostBox)
    refuse(spec, fmt::format("box[{}] is {}: allowed: 1 to {}", i, spec.box[i], kMostBox));
  const std::uint32_t step = spec.element_strides[i];
  if (step < 1 || step > kMostElementStride) {
    refuse(spec,
           fmt::format("element_strides[{}] is {}: allowed: 1 to {}", i, step, kMostElementStride));
  }
  if (i == 0) return;
  const std::uint64_t stride = spec.strides[i - 1];
  if (stride == 0 || stride % kAlignment != 0 || stride >= kMostStride) {
    refuse(spec, fmt::format("strides[{}] is {} bytes: allowed: multiples of {} below 2^40", i - 1,
                             stride, kAlignment));
  }
}

void check_swizzle(const TensorMapSpec& spec) {
  const std::uint64_t row = spec.box[0] * element_bytes(spec.type);
  if (row % kAlignment != 0) {
    refuse(spec, fmt::format("a row of the box, box[0], has {} bytes: allowed: multiples of {}",
                             row, kAlignment));
  }
  const std::uint32_t span = spec.swizzle_bytes;
  if (span != 0 && span != 32 && span != 64 && span != 128)
    refuse(spec, fmt::format("swizzle is {}: allowed: 0, 32, 64 and 128 bytes", span));
  if (span != 0 && row > span) {
    refuse(spec, fmt::format("a row of the box, box[0], has {} bytes: allowed with this swizzle: "
                             "at most {}",
                             row, span));
  }
  const std::uint32_t promotion = spec.l2_promotion_bytes;
  if (promotion != 0 && promotion != 64 && promotion != 128 && promotion != 256)
    refuse(spec, fmt::format("l2_promotion is {}: allowed: 0, 64, 128 and 256 bytes", promotion));
}

}  // namespace

std::size_t element_bytes(TensorMapType type) {
  switch (type) {
    case TensorMapType::kU8:
      return 1;
    case TensorMapType::kU16:
    case TensorMapType::kF16:
    case TensorMapType::kBf16:
      return 2;
    case TensorMapType::kU64:
    case TensorMapType::kS64:
    case TensorMapType::kF64:
      return 8;
    default:
      return 4;
  }
}

std::uint64_t extent_bytes(const TensorMapSpec& spec) {
  std::uint64_t bytes = spec.dims[0] * element_bytes(spec.type);
  for (std::size_t i = 1; i < spec.dims.size(); ++i)
    bytes += (spec.dims[i] - 1) * spec.strides[i - 1];
  return bytes;
}

std::vector<std::uint64_t> dense_strides(const std::vector<std::uint64_t>& dims,
                                         TensorMapType type) {
  std::vector<std::uint64_t> strides;
  std::uint64_t bytes = element_bytes(type);
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) strides.push_back(bytes *= dims[i]);
  return strides;
}

void check_tensor_map(const TensorMapSpec& spec, std::size_t buffer_bytes) {
  check_rank(spec);
  for (std::size_t i = 0; i < spec.dims.size(); ++i) check_dimension(spec, i);
  check_swizzle(spec);
  const std::uint64_t bytes = extent_bytes(spec);
  if (bytes > buffer_bytes) {
    refuse(spec, fmt::format("dims and strides reach byte {} of a buffer of {} bytes", bytes,
                             buffer_bytes));
  }
}

}  // namespace evo
