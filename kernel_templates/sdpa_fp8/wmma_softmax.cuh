// Online softmax of a warp's scores. Two lanes share a row and alternate between its groups of four
// scores. Each lane keeps the row's running maximum (of raw scores) and its own part of the sum.
#pragma once

#include "common/convert.cuh"
#include "common/exp2.cuh"
#include "common/sync.cuh"
#include "wmma_config.cuh"

/// The initial maximum: finite, so that a group of warps whose keys are all masked never computes
/// inf - inf; far below any score of e4m3 operands.
constexpr float kNoMaximum = -1.0e30f;

struct RowStats {
  float maximum[kRowGroups];
  float sum[kRowGroups];
};

__device__ __forceinline__ RowStats empty_stats() {
  RowStats stats;
#pragma unroll
  for (int g = 0; g < kRowGroups; ++g) {
    stats.maximum[g] = kNoMaximum;
    stats.sum[g] = 0.0f;
  }
  return stats;
}

__device__ __forceinline__ float softmax_exp2(float x) {
#if FAST_EXP == FAST_EXP_POLY5
  return exp2_poly5(x);
#elif FAST_EXP == FAST_EXP_MUFU
  return ptx::exp2_mufu(x);
#else
  return exp2_full(x);
#endif
}

/// Scores 4c … 4c+3 of a row, with -inf for keys from `limit` on.
__device__ __forceinline__ Float4 masked_scores(const float* row, int c, int limit) {
  Float4 x = *reinterpret_cast<const Float4*>(row + 4 * c);
  if (limit < kKeys) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (4 * c + i >= limit) x.value[i] = -__int_as_float(0x7F800000);
    }
  }
  return x;
}

__device__ __forceinline__ float largest_of(const Float4& x, float so_far) {
  return fmaxf(so_far, fmaxf(fmaxf(x.value[0], x.value[1]), fmaxf(x.value[2], x.value[3])));
}

__device__ __forceinline__ Float4 exponentials(const Float4& x, float scale, float shift) {
  Float4 p;
#pragma unroll
  for (int i = 0; i < 4; ++i) p.value[i] = softmax_exp2(fmaf(x.value[i], scale, -shift));
  return p;
}

__device__ __forceinline__ float total_of(const Float4& p) {
  return (p.value[0] + p.value[1]) + (p.value[2] + p.value[3]);
}

/// Stores P for the product P V: in f16 in the buffer of probabilities, or in f32 in place of the
/// scores.
__device__ __forceinline__ void store_probabilities(float* row, u16* prob_row, int c,
                                                    const Float4& p) {
#if PV_WMMA
  *reinterpret_cast<HalfChunk*>(prob_row + 4 * c) = {
      {ptx::f16x2_from_f32(p.value[0], p.value[1]), ptx::f16x2_from_f32(p.value[2], p.value[3])}};
#else
  *reinterpret_cast<Float4*>(row + 4 * c) = p;
#endif
}

constexpr int kLaneChunks = kKeys / 8;  ///< groups of four scores per lane and row

/// Computes P of one row, whose scores are read once. Returns this lane's part of the row's sum.
__device__ __forceinline__ float softmax_fused(float* row, u16* prob_row, int part, int limit,
                                               float scale, float& maximum) {
  Float4 x[kLaneChunks];
  float largest = maximum;
#pragma unroll
  for (int c = 0; c < kLaneChunks; ++c) {
    x[c] = masked_scores(row, 2 * c + part, limit);
    largest = largest_of(x[c], largest);
  }
  maximum = fmaxf(largest, ptx::shuffle_xor(largest, 1));
  // P may overlap scores that the row's other lane has not read yet.
  if constexpr (REUSE_SCORES) ptx::sync_warp();
  float sum = 0.0f;
#pragma unroll
  for (int c = 0; c < kLaneChunks; ++c) {
    const Float4 p = exponentials(x[c], scale, maximum * scale);
    sum += total_of(p);
    store_probabilities(row, prob_row, 2 * c + part, p);
  }
  return sum;
}

/// Like softmax_fused(), in three passes over shared memory: maximum, exponentials, sum and P.
__device__ __forceinline__ float softmax_in_passes(float* row, u16* prob_row, int part, int limit,
                                                   float scale, float& maximum) {
  float largest = maximum;
#pragma unroll 2
  for (int c = part; c < kKeys / 4; c += 2) {
    largest = largest_of(masked_scores(row, c, limit), largest);
  }
  maximum = fmaxf(largest, ptx::shuffle_xor(largest, 1));
#pragma unroll 2
  for (int c = part; c < kKeys / 4; c += 2) {
    *reinterpret_cast<Float4*>(row + 4 * c) =
        exponentials(masked_scores(row, c, limit), scale, maximum * scale);
  }
  float sum = 0.0f;
#pragma unroll 2
  for (int c = part; c < kKeys / 4; c += 2) {
    const Float4 p = *reinterpret_cast<const Float4*>(row + 4 * c);
    sum += total_of(p);
    // If P overwrites the scores, P of group c overlaps the scores of group c / 2, which the row's
    // other lane may not have read yet.
    if constexpr (REUSE_SCORES) ptx::sync_warp();
    if constexpr (PV_WMMA) store_probabilities(row, prob_row, c, p);
  }
  return sum;
}

/// Turns the warp's scores into probabilities relative to the running maximum of each row. Writes
/// to `correction` the factor for the previous sums of each row (1 if its maximum did not change).
/// `limit`: the number of keys of the tile that exist for this warp; it may be negative or
/// exceed the tile. `scale`: positive; P is 2^(scale * (score - maximum)). Returns false, in every
/// lane, only with LAZY_RESCALE and if no maximum grew.
__device__ __forceinline__ bool softmax_tile(float* scores, u16* probs, float* correction,
                                             const Role& role, RowStats& stats, int limit,
                                             float scale) {
  const int part = role.lane & 1;
  bool grew = false;
#pragma unroll
  for (int g = 0; g < kRowGroups; ++g) {
    const int row = 16 * g + role.lane / 2;
    const float before = stats.maximum[g];
#if FUSED_SOFTMAX
    const float sum = softmax_fused(scores + row * kScoreStride, probs + row * kProbStride, part,
                                    limit, scale, stats.maximum[g]);
#else
    const float sum = softmax_in_passes(scores + row * kScoreStride, probs + row * kProbStride,
                                        part, limit, scale, stats.maximum[g]);
#endif
    const float factor = softmax_exp2((before - stats.maximum[g]) * scale);
    stats.sum[g] = fmaf(stats.sum[g], factor, sum);
    if (part == 0) correction[row] = factor;
    grew = grew || stats.maximum[g] > before;
  }
  if constexpr (LAZY_RESCALE) return ptx::any_lane(grew);
  return true;
}
