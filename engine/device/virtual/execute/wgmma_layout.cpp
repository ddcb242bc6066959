#include "engine/device/virtual/execute/wgmma_layout.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint32_t kAddressMask = (1U << 18) - 1;
constexpr std::uint32_t kRows = 8;  ///< rows of a core matrix

/// Number of bytes in a row of the pattern with which a swizzle mode permutes chunks.
std::uint32_t row_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::k128:
      return 128;
    case Swizzle::k64:
      return 64;
    case Swizzle::k32:
      return 32;
    case Swizzle::kNone:
      break;
  }
  return kChunkBytes;
}

/// The offset of a 16-byte chunk in a matrix that is contiguous along K; `column` (0 or 1) counts
/// chunks along K.
std::uint32_t k_major_offset(const MatrixDescriptor& m, std::uint32_t row, std::uint32_t column) {
  const bool plain = m.swizzle == Swizzle::kNone;
  return row % kRows * row_bytes(m.swizzle) + row / kRows * m.stride +
         column * (plain ? m.leading : kChunkBytes);
}

/// The offset of a 16-byte chunk, at depth k, in a matrix that is contiguous along M or N; `column`
/// counts chunks along M or N. Without a swizzle, the leading and the stride offset of the
/// descriptor exchange their meanings.
std::uint32_t mn_major_offset(const MatrixDescriptor& m, std::uint32_t column, std::uint32_t k) {
  const std::uint32_t width = row_bytes(m.swizzle) / kChunkBytes;
  const bool plain = m.swizzle == Swizzle::kNone;
  return column % width * kChunkBytes + column / width * (plain ? m.stride : m.leading) +
         k % kRows * row_bytes(m.swizzle) + k / kRows * (plain ? m.leading : m.stride);
}

/// Applies the swizzle to an address: it permutes the chunks within 128 bytes, depending on the
/// number of the 128-byte row.
std::uint32_t permuted(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t mask = row_bytes(swizzle) / kChunkBytes - 1;
  return address ^ ((address >> 7) & mask) << 4;
}

}  // namespace

MatrixDescriptor matrix_descriptor(std::uint64_t bits) {
  const auto field = [&](int shift, int width) {
    return static_cast<std::uint32_t>(bits >> shift) & ((1U << width) - 1);
  };
  return {field(0, 14) << 4, field(16, 14) << 4, field(32, 14) << 4, field(49, 3),
          static_cast<Swizzle>(field(62, 2))};
}

std::array<std::uint32_t, kBlockChunks> block_addresses(const MatrixDescriptor& matrix,
                                                        bool k_major, std::uint32_t block) {
  std::array<std::uint32_t, kBlockChunks> addresses;
  for (std::uint32_t i = 0; i < kBlockChunks; ++i) {
    const std::uint32_t offset = k_major ? k_major_offset(matrix, block * kRows + i / 2, i % 2)
                                         : mn_major_offset(matrix, block, i);
    addresses[i] = permuted((matrix.start + offset) & kAddressMask, matrix.swizzle);
  }
  return addresses;
}

}  // namespace evo::ptx
