// Copies rows of Q, K or V to shared memory. Include mma_config.cuh or wgmma_config.cuh before
// this file: they define kRowChunks, kRowBytes and swizzle_of().
#pragma once

#include "common/async_copy.cuh"

/// Starts copying `kRows` rows of D bytes to `shared`, as thread `worker` of kWorkers. Rows from
/// `valid` on become zero, because memory after the tensors may be NaN, and 0 * NaN is NaN.
template <int kRows, int kWorkers>
__device__ __forceinline__ void copy_rows(u32 shared, const u8* source, int valid, int worker) {
  constexpr int kChunks = kRows * kRowChunks;
  constexpr int kPasses = ceil_div(kChunks, kWorkers);
  constexpr int kRowsPerPass = kWorkers / kRowChunks;
  if (kWorkers > kChunks && worker >= kChunks) return;
  const int row = worker / kRowChunks;
  const int chunk = worker % kRowChunks;
#pragma unroll 8
  for (int pass = 0; pass < kPasses; ++pass) {
    const int now = row + pass * kRowsPerPass;
    // If a pass covers a multiple of eight rows, the swizzle is the same in each pass.
    const int place = chunk ^ swizzle_of(kRowsPerPass % 8 == 0 ? row : now);
    ptx::copy_async(
        shared + row * kRowBytes + place * kChunkBytes + pass * kRowsPerPass * kRowBytes,
        source + worker * kChunkBytes + pass * kWorkers * kChunkBytes, now < valid);
  }
}
