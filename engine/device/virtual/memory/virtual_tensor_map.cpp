#include "engine/device/virtual/memory/virtual_tensor_map.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace evo::ptx {
namespace {

/// The number of elements of a box in shared memory along dimension i.
std::uint64_t box_size(const VirtualTensorMap& map, std::size_t i) {
  const std::uint64_t box = map.last_of_box[i] + std::uint64_t{1};
  const std::uint64_t step = i == 0 ? 1 : map.element_strides[i];  // not used for dimension 0
  return (box + step - 1) / step;
}

std::uint64_t row_bytes(const VirtualTensorMap& map) {
  return box_size(map, 0) * map.element_bytes;
}

/// Bytes in shared memory from one row of the box to the next. With a swizzle, the rows are as far
/// apart as the number of bytes within which the swizzle permutes chunks.
std::uint64_t row_pitch(const VirtualTensorMap& map) {
  return std::max<std::uint64_t>(row_bytes(map), map.swizzle_bytes);
}

/// Applies the swizzle to an address in shared memory: permutes 16-byte chunks within
/// `swizzle_bytes` bytes, depending on the number of the 128-byte row (CUDA Programming Guide,
/// "Shared-Memory Bank Swizzling").
std::uint32_t swizzled(std::uint32_t address, std::uint32_t swizzle_bytes) {
  if (swizzle_bytes == 0) return address;
  constexpr std::uint32_t kRow = 128;
  return address ^ (address / kRow % (swizzle_bytes / kBulkChunk)) * kBulkChunk;
}

/// A row of the box: its address in global memory, and the range of its bytes that are inside the
/// tensor.
struct Row {
  std::uint64_t global = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The row of the box with the elements of `index` as indices along dimensions 1, 2, …; a row
/// extends along dimension 0.
Row row_at(const VirtualTensorMap& map, std::span<const std::int32_t> coordinates,
           const std::array<std::uint64_t, kMostTensorDimensions>& index) {
  const auto bytes = static_cast<std::int64_t>(row_bytes(map));
  const std::int64_t start = std::int64_t{coordinates[0]} * map.element_bytes;
  const std::int64_t limit = (std::int64_t{map.last[0]} + 1) * map.element_bytes;
  Row row{map.base + static_cast<std::uint64_t>(start), std::clamp(-start, std::int64_t{0}, bytes),
          std::clamp(limit - start, std::int64_t{0}, bytes)};
  for (std::size_t i = 1; i < map.dimensions; ++i) {
    const std::int64_t at =
        coordinates[i] + static_cast<std::int64_t>(index[i] * map.element_strides[i]);
    if (at < 0 || at > map.last[i]) row.end = row.begin;
    row.global += static_cast<std::uint64_t>(at) * map.strides[i - 1];
  }
  return row;
}

}  // namespace

std::uint64_t VirtualTensorMap::extent() const {
  std::uint64_t bytes = (std::uint64_t{last[0]} + 1) * element_bytes;
  for (std::size_t i = 1; i < dimensions; ++i) bytes += last[i] * strides[i - 1];
  return bytes;
}

std::uint64_t VirtualTensorMap::box_bytes() const {
  std::uint64_t rows = 1;
  for (std::size_t i = 1; i < dimensions; ++i) rows *= box_size(*this, i);
  return (rows - 1) * row_pitch(*this) + row_bytes(*this);
}

std::array<std::byte, kTensorMapBytes> encode(const TensorMapSpec& spec, std::uint64_t base) {
  VirtualTensorMap map;
  map.base = base;
  map.dimensions = static_cast<std::uint8_t>(spec.dims.size());
  map.element_bytes = static_cast<std::uint8_t>(element_bytes(spec.type));
  map.swizzle_bytes = static_cast<std::uint8_t>(spec.swizzle_bytes);
  std::ranges::copy(spec.strides, map.strides.begin());
  for (std::size_t i = 0; i < spec.dims.size(); ++i) {
    map.last[i] = static_cast<std::uint32_t>(spec.dims[i] - 1);
    map.last_of_box[i] = static_cast<std::uint8_t>(spec.box[i] - 1);
    map.element_strides[i] = static_cast<std::uint8_t>(spec.element_strides[i]);
  }
  std::array<std::byte, kTensorMapBytes> bytes;
  std::memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

std::optional<VirtualTensorMap> decode(std::span<const std::byte> bytes) {
  VirtualTensorMap map;
  if (bytes.size() != sizeof map) return std::nullopt;
  std::memcpy(&map, bytes.data(), sizeof map);
  const auto is_one_of = [](std::uint8_t value, std::initializer_list<std::uint8_t> allowed) {
    return std::ranges::find(allowed, value) != allowed.end();
  };
  // The fields of the map must be checked, because a kernel may have written the map.
  const bool is_valid =
      map.magic == VirtualTensorMap::kMagic && is_one_of(map.dimensions, {1, 2, 3, 4, 5}) &&
      is_one_of(map.element_bytes, {1, 2, 4, 8}) &&
      is_one_of(map.swizzle_bytes, {0, 32, 64, 128}) &&
      std::all_of(map.element_strides.begin(), map.element_strides.begin() + map.dimensions,
                  [](std::uint8_t step) { return step > 0; });
  return is_valid ? std::optional(map) : std::nullopt;
}

std::vector<BulkChunk> box_chunks(const VirtualTensorMap& map,
                                  std::span<const std::int32_t> coordinates, std::uint32_t shared,
                                  bool stores) {
  std::vector<BulkChunk> chunks;
  chunks.reserve(map.box_bytes() / kBulkChunk);
  const auto bytes = static_cast<std::int64_t>(row_bytes(map));
  std::array<std::uint64_t, kMostTensorDimensions> index{};
  for (std::size_t i = 0; i != map.dimensions;) {
    Row row = row_at(map, coordinates, index);
    constexpr std::int64_t kChunk = kBulkChunk;
    if (stores && row.begin < row.end) row.end = (row.end + kChunk - 1) / kChunk * kChunk;
    for (std::int64_t at = 0; at < bytes; at += kBulkChunk, shared += kBulkChunk) {
      const auto within = [&](std::int64_t byte) {
        return static_cast<std::uint8_t>(
            std::clamp(byte - at, std::int64_t{0}, std::int64_t{kBulkChunk}));
      };
      chunks.push_back({row.global + static_cast<std::uint64_t>(at),
                        swizzled(shared, map.swizzle_bytes), within(row.begin), within(row.end)});
    }
    shared += static_cast<std::uint32_t>(row_pitch(map) - row_bytes(map));
    // Goes on to the next row; the index along dimension 1 changes fastest.
    for (i = 1; i < map.dimensions && ++index[i] == box_size(map, i); ++i) index[i] = 0;
    if (map.dimensions == 1) break;
  }
  return chunks;
}

}  // namespace evo::ptx
