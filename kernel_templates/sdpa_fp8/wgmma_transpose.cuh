// Transposes V for PV_MODE fp8: a wgmma of e4m3 reads both operands with rows along the keys.
//
// A block is 16 keys. The warp that copied a block transposes it. Lane 4 g + t has P of keys 2t,
// 2t+1, 2t+8 and 2t+9 of each 16, for the operand's k = 4t … 4t+3; the bytes of a row of the
// transposed V have the same order, so ldmatrix.trans, a byte permutation and stmatrix suffice to
// transpose V.
#pragma once

#include "common/async_copy.cuh"
#include "common/mma.cuh"
#include "common/sync.cuh"
#include "wgmma_config.cuh"

constexpr int kBlockKeys = 16;
constexpr int kBlockBytes = kBlockKeys * kRowBytes;

/// Calls `use` with the index of each block that the warp of thread `copier` copies and transposes.
template <typename Use>
__device__ __forceinline__ void for_own_blocks(u32 copier, const Use& use) {
  constexpr u32 kTileBlocks = kCopiedKeys / kBlockKeys;
  constexpr u32 kWarps = kCopiers / kWarp;
  const u32 warp = copier / kWarp % kWarps;
#pragma unroll 2
  for (u32 block = 0; block < kTileBlocks; block += kWarps) {
    if (kTileBlocks % kWarps == 0 || block + warp < kTileBlocks) use(block + warp);
  }
}

/// Starts copying the warp's blocks to `to`. Bytes of keys from `valid` on become zero. A copy
/// instruction takes time in proportion to the cache lines that it touches, so the lanes of each
/// instruction copy whole lines.
__device__ __forceinline__ void copy_blocks(u32 to, const u8* source, int valid, u32 copier) {
  constexpr int kRows = kWarp / kRowChunks;  // rows that an instruction copies
  const u32 lane = copier % kWarp;
  const u32 row = lane / kRowChunks;
  const u32 place = row * kRowBytes + (lane % kRowChunks ^ swizzle_of(row)) * kChunkBytes;
  for_own_blocks(copier, [&](u32 block) {
    const u32 start = to + block * kBlockBytes + place;
    const u8* bytes = source + block * kBlockKeys * HEAD_DIM + lane * kChunkBytes;
    const int left = valid - static_cast<int>(block * kBlockKeys + row);
#pragma unroll
    for (int i = 0; i < kBlockKeys; i += kRows) {
      ptx::copy_async((start + i * kRowBytes) ^ swizzle_of(i) * kChunkBytes, bytes + i * HEAD_DIM,
                      i < left);
    }
  });
}

/// Transposes the blocks that the warp of thread `copier` copied to `from`, and stores block i at
/// key `first_key` + 16 i of the tile at address `slot`.
__device__ __forceinline__ void transpose_blocks(u32 slot, u32 first_key, u32 from, u32 copier) {
  const u32 lane = copier % kWarp;
  const u32 line = lane % 8;
  const u32 swizzle = kPanelKeys == 128 ? line : kPanelKeys == 64 ? line / 2 : line / 4;
  const u32 row = lane % kBlockKeys;
  const u32 place = row * kRowBytes + (lane / kBlockKeys ^ swizzle_of(row)) * kChunkBytes;
  ptx::sync_warp();  // the other lanes' copies are complete, too
  for_own_blocks(copier, [&](u32 block) {
    const u32 read = from + block * kBlockBytes + place;
    const u32 key = first_key + block * kBlockKeys;
    const u32 chunk = key % kPanelKeys / kChunkBytes ^ swizzle;
    const u32 write =
        slot + key / kPanelKeys * kPanelBytes + lane * kPanelKeys + chunk * kChunkBytes;
    // All loads precede the stores, because the latency of a load is tens of instructions.
    ptx::Fragment v[kRowChunks / 2];
#pragma unroll
    for (int i = 0; i < kRowChunks / 2; ++i) {
      v[i] = ptx::load_transposed(read ^ 2 * i * kChunkBytes);
    }
#pragma unroll
    for (int i = 0; i < kRowChunks / 2; ++i) {
      ptx::store_matrices(write + 2 * i * kChunkBytes * kPanelKeys,
                          {{ptx::permute_bytes(v[i].word[0], v[i].word[1], 0x6420),
                            ptx::permute_bytes(v[i].word[0], v[i].word[1], 0x7531),
                            ptx::permute_bytes(v[i].word[2], v[i].word[3], 0x6420),
                            ptx::permute_bytes(v[i].word[2], v[i].word[3], 0x7531)}});
    }
  });
}
