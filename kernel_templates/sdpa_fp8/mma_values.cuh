// P V of a warp, with fragments made in registers from the bytes of V.
#pragma once

#include "common/convert.cuh"
#include "common/mma.cuh"
#include "mma_tiles.cuh"
#include "online_softmax.cuh"

/// Adds the products of P and a column of ones to the row sums, if kSumByMma.
__device__ __forceinline__ void add_sums(float (&sum)[kBlocks][4],
                                         const ptx::Fragment (&a)[kBlocks]) {
  if constexpr (kSumByMma) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#if PV_MODE == PV_MODE_FP8
      const u32 kOnes = 0x38383838u;  // four e4m3
      ptx::mma_e4m3(sum[block], a[block], kOnes, kOnes);
#else
      const u32 kOnes = 0x3C003C00u;  // a pair of f16
      ptx::mma_f16(sum[block], a[block], kOnes, kOnes);
#endif
    }
  }
}

/// output += P V with f16 operands. ldmatrix transposes pairs of adjacent columns of V; one prmt
/// separates the two columns. The two resulting n-tiles are the even and the odd columns.
__device__ __forceinline__ void add_values_f16(Accumulated& state, const Probabilities& p, u32 rows,
                                               const Role& role) {
  const u32 row = rows + (role.lane % 16) * kRowBytes;
  const int right = role.lane / 16;  // lanes 16 … 31 address the chunk to the right
#pragma unroll
  for (int block16 = 0; block16 < STEP_N / 16; ++block16) {
    ptx::Fragment a[kBlocks];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) a[block] = operand_of(p, block, block16);
    add_sums(state.sum, a);
#pragma unroll
    for (int chunk = 0; chunk < kRowChunks; chunk += 2) {
      const int place = (chunk + right) ^ swizzle_of(role.lane % 8);
      const ptx::Fragment v =
          ptx::load_transposed(row + place * kChunkBytes + 16 * block16 * kRowBytes);
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const HalfChunk low = f16x4_from_e4m3x4(ptx::permute_bytes(v.word[2 * side], 0, 0x3120));
        const HalfChunk high =
            f16x4_from_e4m3x4(ptx::permute_bytes(v.word[2 * side + 1], 0, 0x3120));
#pragma unroll
        for (int odd = 0; odd < 2; ++odd) {
#pragma unroll
          for (int block = 0; block < kBlocks; ++block) {
            ptx::mma_f16(state.output[block][2 * (chunk + side) + odd], a[block], low.word[odd],
                         high.word[odd]);
          }
        }
      }
    }
  }
}

#if PV_MODE == PV_MODE_FP8
/// output += P V with e4m3 operands. P and V have the k order of packed accumulators: in
/// lane 4 g + t, keys 2t, 2t+1 of one n-tile, then of the next n-tile. An mma of e4m3 keeps 13 bits
/// of a sum, too few for all keys, so the row sums of each step are added to `state.sum` in f32.
__device__ __forceinline__ void add_values_fp8(Accumulated& state, const Probabilities& p, u32 rows,
                                               const Role& role) {
  const u32 row = rows + role.lane * kRowBytes;
  float sum[kBlocks][4] = {};
#pragma unroll
  for (int block32 = 0; block32 < STEP_N / 32; ++block32) {
    ptx::Fragment a[kBlocks];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) a[block] = operand_of(p, block, block32);
    add_sums(sum, a);
#pragma unroll
    for (int chunk = 0; chunk < kRowChunks; ++chunk) {
      const int place = chunk ^ swizzle_of(role.lane % 8);
      const ptx::Fragment v =
          ptx::load_transposed(row + place * kChunkBytes + 32 * block32 * kRowBytes);
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const u32 selector = odd == 0 ? 0x6420 : 0x7531;
        const u32 b0 = ptx::permute_bytes(v.word[0], v.word[1], selector);
        const u32 b1 = ptx::permute_bytes(v.word[2], v.word[3], selector);
#pragma unroll
        for (int block = 0; block < kBlocks; ++block) {
          ptx::mma_e4m3(state.output[block][2 * chunk + odd], a[block], b0, b1);
        }
      }
    }
  }
  if constexpr (kSumByMma) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      state.sum[block][0] += sum[block][0];
      state.sum[block][2] += sum[block][2];
    }
  }
}
#endif

/// output += P V. `rows`: shared address of V's row for the step's first key.
__device__ __forceinline__ void add_values(Accumulated& state, const Probabilities& p, u32 rows,
                                           const Role& role) {
#if PV_MODE == PV_MODE_FP8
  add_values_fp8(state, p, rows, role);
#else
  add_values_f16(state, p, rows, role);
#endif
}
