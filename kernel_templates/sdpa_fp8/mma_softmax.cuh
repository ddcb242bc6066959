// Online softmax and P V of a warp.
#pragma once

#include "common/convert.cuh"
#include "common/exp2.cuh"
#include "common/mma.cuh"
#include "common/sync.cuh"
#include "mma_scores.cuh"

/// Running state of the warp's rows over its keys. Row g of a block is index 0, row g + 8 index 1.
struct Accumulated {
  float output[kBlocks][kColumnTiles][4];  ///< sum of P V, relative to `maximum`
  float maximum[kBlocks][2];               ///< of raw scores; with LAZY_RESCALE, of some time ago
  float sum[kBlocks][4];  ///< of P: rows at 0 and 2; over this lane's columns, or over all by mma
};

/// Below every score, and finite: a row whose keys are all masked must not make inf - inf.
constexpr float kLowest = -1e30f;

__device__ __forceinline__ void clear(Accumulated& state) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) state.output[block][n][i] = 0.0f;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) state.maximum[block][half] = kLowest;
#pragma unroll
    for (int i = 0; i < 4; ++i) state.sum[block][i] = 0.0f;
  }
}

/// 2^x; `index`: which of four neighbouring scores of a lane. Mixed: one in four by polynomial, so
/// that the MUFU and the FMA units share the work.
__device__ __forceinline__ float probability(float x, int index) {
  if constexpr (EXP == EXP_POLY2) return exp2_poly<2>(x);
  if constexpr (EXP == EXP_POLY3) return exp2_poly<3>(x);
  if constexpr (EXP == EXP_MIXED) {
    if (index == 3) return exp2_poly<3>(x);
  }
  return ptx::exp2_mufu(x);
}

/// Largest score of a row: over this lane's columns, then over the quad.
__device__ __forceinline__ float row_maximum(const Scores& scores, int block, int half) {
  float largest = fmaxf(scores.at[block][0][2 * half], scores.at[block][0][2 * half + 1]);
#pragma unroll
  for (int n = 1; n < kStepTiles; ++n) {
    largest =
        fmaxf(largest, fmaxf(scores.at[block][n][2 * half], scores.at[block][n][2 * half + 1]));
  }
  largest = fmaxf(largest, ptx::shuffle_xor(largest, 1));
  return fmaxf(largest, ptx::shuffle_xor(largest, 2));
}

/// Moves the running maxima up to those of the new scores and rescales what was summed up. With
/// LAZY_RESCALE nothing happens unless a row of the warp outgrew its maximum by that power of two.
__device__ __forceinline__ void update_maxima(Accumulated& state, const Scores& scores,
                                              float scale) {
  float largest[kBlocks][2];
  bool outgrown = LAZY_RESCALE == 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float before = state.maximum[block][half];
      largest[block][half] = fmaxf(before, row_maximum(scores, block, half));
      if constexpr (LAZY_RESCALE > 0) {
        outgrown |= (largest[block][half] - before) * scale > static_cast<float>(LAZY_RESCALE);
      }
    }
  }
  if constexpr (LAZY_RESCALE > 0) outgrown = ptx::any_lane(outgrown);
  if (!outgrown) return;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float factor =
          ptx::exp2_mufu((state.maximum[block][half] - largest[block][half]) * scale);
      state.maximum[block][half] = largest[block][half];
      state.sum[block][2 * half] *= factor;
#pragma unroll
      for (int n = 0; n < kColumnTiles; ++n) {
        state.output[block][n][2 * half] *= factor;
        state.output[block][n][2 * half + 1] *= factor;
      }
    }
  }
}

/// P of a step, packed as the A operands of P V: operand i is words 2i and 2i + 1. An accumulator
/// pair is an f16 pair of A; two neighbouring n-tiles make a word of e4m3.
struct Probabilities {
  u32 word[kBlocks][kPvFp8 ? kStepTiles / 2 : kStepTiles][2];
};

__device__ __forceinline__ ptx::Fragment operand_of(const Probabilities& p, int block, int i) {
  return {{p.word[block][2 * i][0], p.word[block][2 * i][1], p.word[block][2 * i + 1][0],
           p.word[block][2 * i + 1][1]}};
}

/// n-tiles n and n + 1: scores become P.
__device__ __forceinline__ void exponentiate_pair(Probabilities& packed, const Scores& scores,
                                                  Accumulated& state, int n, float scale) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float shift = kPOffset - state.maximum[block][half] * scale;
      float p[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float score = scores.at[block][n + i / 2][2 * half + i % 2];
        p[i] = probability(fmaf(score, scale, shift), i);
        if constexpr (!kSumByMma) state.sum[block][2 * half] += p[i];
      }
#if PV_MODE == PV_MODE_FP8
      packed.word[block][n / 2][half] = ptx::e4m3x4_from_f32(p[0], p[1], p[2], p[3]);
#else
      packed.word[block][n][half] = ptx::f16x2_from_f32(p[0], p[1]);
      packed.word[block][n + 1][half] = ptx::f16x2_from_f32(p[2], p[3]);
#endif
    }
  }
}

/// Row sums as one more column of V, all ones: instead of an addition per element.
__device__ __forceinline__ void add_sums(Accumulated& state, const ptx::Fragment (&a)[kBlocks]) {
  if constexpr (!kSumByMma) return;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const u32 kOnes = 0x3C003C00u;  // a pair of f16
    ptx::mma_f16(state.sum[block], a[block], kOnes, kOnes);
  }
}

/// output += P V with f16 operands. ldmatrix transposes pairs of neighbouring columns of V; one
/// prmt parts them, and the two n-tiles that come of it are the even and the odd columns.
__device__ __forceinline__ void add_values_f16(Accumulated& state, const Probabilities& p, u32 rows,
                                               const Role& role) {
  const u32 row = rows + (role.lane % 16) * kRowBytes;
  const int right = role.lane / 16;  // lanes 16 … 31 address the chunk to the right
#pragma unroll
  for (int block16 = 0; block16 < STEP_N / 16; ++block16) {
    ptx::Fragment a[kBlocks];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) a[block] = operand_of(p, block, block16);
    add_sums(state, a);
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
/// output += P V with e4m3 operands. The k order is that of packed accumulators: keys 2t, 2t+1 of
/// one n-tile, then of the next; the transposed V of the same two matrices has it too.
__device__ __forceinline__ void add_values_fp8(Accumulated& state, const Probabilities& p, u32 rows,
                                               const Role& role) {
  const u32 row = rows + role.lane * kRowBytes;
#pragma unroll
  for (int block32 = 0; block32 < STEP_N / 32; ++block32) {
    ptx::Fragment a[kBlocks];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) a[block] = operand_of(p, block, block32);
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
}
#endif

/// `rows`: shared address of V's row of the step's first key.
__device__ __forceinline__ void add_values(Accumulated& state, const Probabilities& p, u32 rows,
                                           const Role& role) {
#if PV_MODE == PV_MODE_FP8
  add_values_fp8(state, p, rows, role);
#else
  add_values_f16(state, p, rows, role);
#endif
}
