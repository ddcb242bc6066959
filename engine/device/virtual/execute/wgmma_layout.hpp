#pragma once

#include <array>
#include <cstdint>

namespace evo::ptx {

/// Swizzle mode: permutation of 16-byte chunks, numbered as in a descriptor (PTX ISA, matrix
/// descriptor of wgmma.mma_async).
enum class Swizzle : std::uint8_t { kNone = 0, k128 = 1, k64 = 2, k32 = 3 };

/// The layout of a wgmma matrix in shared memory; all values in bytes.
struct MatrixDescriptor {
  std::uint32_t start = 0;
  std::uint32_t leading = 0;      ///< "leading dimension byte offset"
  std::uint32_t stride = 0;       ///< "stride dimension byte offset"
  std::uint32_t base_offset = 0;  ///< start of the swizzle pattern, in rows of 128 bytes
  Swizzle swizzle = Swizzle::kNone;
};

[[nodiscard]] MatrixDescriptor matrix_descriptor(std::uint64_t bits);

inline constexpr std::uint32_t kChunkBytes = 16;
/// Chunks of a block: eight rows (columns) of M or N by 32 bytes of K.
inline constexpr std::size_t kBlockChunks = 16;

/// Shared addresses of the chunks of block number `block` along M or N. K-major: chunk 2 r + c
/// holds bytes 16 c … of K in row r. Otherwise (16-bit elements): chunk k holds the eight rows of
/// depth k. Addresses wrap at 256 KiB, as in a descriptor.
[[nodiscard]] std::array<std::uint32_t, kBlockChunks> block_addresses(
    const MatrixDescriptor& matrix, bool k_major, std::uint32_t block);

}  // namespace evo::ptx
