#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/tensor_map.hpp"
#include "engine/device/virtual/execute/bulk_copies.hpp"

namespace evo::ptx {

/// The content of a CUtensorMap on the virtual GPU, which has a format of its own.
struct VirtualTensorMap {
  static constexpr std::uint64_t kMagic = 0x7061'6d74'6f76'6531ULL;

  std::uint64_t magic = kMagic;
  std::uint64_t base = 0;
  std::array<std::uint64_t, kMostTensorDimensions - 1> strides{};  ///< bytes
  std::array<std::uint32_t, kMostTensorDimensions> last{};         ///< size of the tensor − 1
  std::array<std::uint8_t, kMostTensorDimensions> last_of_box{};   ///< size of the box − 1
  std::array<std::uint8_t, kMostTensorDimensions> element_strides{};
  std::uint8_t dimensions = 0;
  std::uint8_t element_bytes = 0;
  std::uint8_t swizzle_bytes = 0;
  std::array<std::uint8_t, 43> unused{};

  /// Bytes in global memory from the base to the end of the tensor's last element.
  [[nodiscard]] std::uint64_t extent() const;
  /// Bytes in shared memory from the first to the last byte of a box.
  [[nodiscard]] std::uint64_t box_bytes() const;
};
static_assert(sizeof(VirtualTensorMap) == kTensorMapBytes);

/// Returns the bytes of a CUtensorMap for a tensor at address `base`. check_tensor_map() must have
/// accepted `spec`.
[[nodiscard]] std::array<std::byte, kTensorMapBytes> encode(const TensorMapSpec& spec,
                                                            std::uint64_t base);
/// Decodes the bytes of a CUtensorMap; nullopt if their fields are invalid, for example because
/// encode() did not create the bytes.
[[nodiscard]] std::optional<VirtualTensorMap> decode(std::span<const std::byte> bytes);

/// The chunks of the box at `coordinates`; in shared memory, the box begins at address `shared`. As
/// on an H100, a load ends at the last element of a row of the tensor, and a store ends at the next
/// multiple of 16 bytes.
[[nodiscard]] std::vector<BulkChunk> box_chunks(const VirtualTensorMap& map,
                                                std::span<const std::int32_t> coordinates,
                                                std::uint32_t shared, bool stores);

}  // namespace evo::ptx
