#pragma once

#include <array>
#include <cstdint>

namespace evo::ptx {

/// The swizzle mode of a matrix in shared memory, which permutes 16-byte chunks. The enumerators
/// have the values of the mode in a matrix descriptor (PTX ISA, wgmma.mma_async).
enum class Swizzle : std::uint8_t { kNone = 0, k128 = 1, k64 = 2, k32 = 3 };

/// The layout of a matrix in shared memory, as given to wgmma. Sizes are in bytes.
struct MatrixDescriptor {
  std::uint32_t start = 0;
  std::uint32_t leading = 0;      ///< "leading dimension byte offset"
  std::uint32_t stride = 0;       ///< "stride dimension byte offset"
  std::uint32_t base_offset = 0;  ///< start of the swizzle pattern, in rows of 128 bytes
  Swizzle swizzle = Swizzle::kNone;
};

[[nodiscard]] MatrixDescriptor matrix_descriptor(std::uint64_t bits);

inline constexpr std::uint32_t kChunkBytes = 16;
/// Number of chunks in a block, which is eight rows of M (or columns of N) by 32 bytes of K.
inline constexpr std::size_t kBlockChunks = 16;

/// The shared-memory addresses of the chunks of block number `block` along M or N. If `k_major`,
/// chunk 2 r + c holds 16 bytes of row r along K, from byte 16 c on. If not `k_major`, the elements
/// have 16 bits, and chunk k holds the elements of eight rows at depth k. Addresses wrap at 256
/// KiB, because a matrix descriptor holds 18-bit addresses.
[[nodiscard]] std::array<std::uint32_t, kBlockChunks> block_addresses(
    const MatrixDescriptor& matrix, bool k_major, std::uint32_t block);

}  // namespace evo::ptx
