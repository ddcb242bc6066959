// Transposes V for PV_MODE fp8: a wgmma of e4m3 reads both operands with rows along the keys.
//
// A block is 32 keys by 32 columns. The warp that copied a block transposes it. A lane's bytes of P
// are keys 2t, 2t+1, 2t+8 and 2t+9 of each 16, for the operand's k = 4t … 4t+3; the bytes of a row
// of the transposed V have the same order. So ldmatrix.trans, a byte permutation and stmatrix
// suffice.
#pragma once

#include "common/async_copy.cuh"
#include "common/mma.cuh"
#include "common/sync.cuh"
#include "wgmma_config.cuh"

constexpr int kBlockKeys = 32;
constexpr int kBlockBytes = 1024;
constexpr int kColumnBlocks = HEAD_DIM / 32;

/// Calls `use` with the number of each block that belongs to the copier's warp.
template <typename Use>
__device__ __forceinline__ void for_own_blocks(int copier, const Use& use) {
  constexpr int kTileBlocks = kCopiedKeys / kBlockKeys * kColumnBlocks;
  constexpr int kWarps = kCopiers / kWarp;
  const int warp = copier / kWarp;
#pragma unroll (kProduced ? 2 : 4)
  for (int block = 0; block < kTileBlocks; block += kWarps) {
    if (kTileBlocks % kWarps == 0 || block + warp < kTileBlocks) use(block + warp);
  }
}

/// The 16 bytes of a key within a block, by the half of the columns. Neither copies nor ldmatrix
/// meet in a bank.
__device__ __forceinline__ int place_in_block(int key, int half) {
  return half * (kBlockBytes / 2) + (key ^ (4 * half)) * kChunkBytes;
}

/// Starts copying the warp's blocks to `to`. Keys from `valid` on become zero.
__device__ __forceinline__ void copy_blocks(u32 to, const u8* source, int valid, int copier) {
  const int half = copier % 2;
  for_own_blocks(copier, [&](int block) {
    const int column = block % kColumnBlocks * 32 + half * kChunkBytes;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int key = i * 16 + copier % kWarp / 2;
      const int row = block / kColumnBlocks * kBlockKeys + key;
      ptx::copy_async(to + block * kBlockBytes + place_in_block(key, half),
                      source + row * HEAD_DIM + column, row < valid);
    }
  });
}

/// Transposes the warp's blocks, which it copied to `from`, into the keys from `first_key` on of
/// the slot.
__device__ __forceinline__ void transpose_blocks(u32 slot, int first_key, u32 from, int copier) {
  const int lane = copier % kWarp;
  const int line = lane % 8;
  const int swizzle = kPanelKeys == 128 ? line : kPanelKeys == 64 ? line / 2 : line / 4;
  ptx::sync_warp();  // the other lanes' copies are complete, too
  for_own_blocks(copier, [&](int block) {
    const int key = first_key + block / kColumnBlocks * kBlockKeys + lane / 16 * 16;
    const int chunk = key % kPanelKeys / kChunkBytes ^ swizzle;
    const u32 panel = slot + key / kPanelKeys * kPanelBytes + chunk * kChunkBytes;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const ptx::Fragment v =
          ptx::load_transposed(from + block * kBlockBytes + place_in_block(lane, half));
      const int row = (block % kColumnBlocks * 2 + half) * 16 + lane / 8 % 2 * 8 + line;
      ptx::store_matrices(panel + row * kPanelKeys,
                          {{ptx::permute_bytes(v.word[0], v.word[1], 0x6420),
                            ptx::permute_bytes(v.word[0], v.word[1], 0x7531),
                            ptx::permute_bytes(v.word[2], v.word[3], 0x6420),
                            ptx::permute_bytes(v.word[2], v.word[3], 0x7531)}});
    }
  });
}
