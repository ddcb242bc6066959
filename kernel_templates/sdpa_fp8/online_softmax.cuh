// Online softmax of a warp whose scores are accumulators of mma or wgmma: kBlocks blocks of 16 rows
// by STEP_N keys. Lane 4 g + t has columns 2t, 2t+1 of each n-tile of 8 keys, in rows g and g + 8.
// Include mma_config.cuh or wgmma_config.cuh before this file: they define kBlocks, kStepTiles,
// kColumnTiles and other constants.
#pragma once

#include "common/convert.cuh"
#include "common/exp2.cuh"
#include "common/mma.cuh"
#include "common/sync.cuh"
#include "problem.cuh"

/// Whether P of n-tiles n and n + 1 is interpolated linearly.
__device__ constexpr bool is_linear(int n) {
  return EXP == EXP_LINEAR || (EXP == EXP_ALTERNATE && n % 4 != 0);
}

/// P is 2^(scale (score - maximum) + kPOffset). In e4m3, which ends at 448, P reaches 2^8.7 = 416.
/// With kCeilings, a maximum is raised beyond the scores, so that P may grow before the next raise:
/// by a factor of up to 2^LAZY_RESCALE in rows with many large scores, but only by a factor of 2 in
/// the other rows, where more of the P would become 0: e4m3 has no numbers between 0 and 2^-9, and
/// linear interpolation gives none between 0 and 2^-7.
constexpr bool kCeilings = kPvFp8 && LAZY_RESCALE > 0;
constexpr float kPOffset = kPvFp8 ? 8.7f : 0.0f;

/// Raw dot products: one accumulator for each block and n-tile of 8 keys.
struct Scores {
  float at[kBlocks][kStepTiles][4];
};

/// Sets the scores of masked keys to -inf: keys beyond the last one and, with CAUSAL, beyond the
/// diagonal. `first_key`: the step's first key; `first_row`: the warp's first row.
__device__ __forceinline__ void mask_scores(Scores& scores, int first_key, int first_row,
                                            int kv_len, const Role& role) {
  const float kMinusInfinity = __int_as_float(static_cast<int>(0xFF800000u));
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + 16 * block + 8 * half + role.quad;
      const int end = kCausal ? min(kv_len, row + 1) : kv_len;
      const int limit = end - first_key - 2 * role.lane4;
#pragma unroll
      for (int n = 0; n < kStepTiles; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (8 * n + i >= limit) scores.at[block][n][2 * half + i] = kMinusInfinity;
        }
      }
    }
  }
}

/// Sums and maxima of the warp's rows over its keys so far. Row g of a block has index 0, row g + 8
/// index 1.
struct Accumulated {
  float output[kBlocks][kColumnTiles][4];  ///< sum of P V, relative to `maximum`
  /// Maximum of raw scores; with LAZY_RESCALE it may be outdated, with kCeilings also too large.
  float maximum[kBlocks][2];
  /// Sum of P: row g at index 0, row g + 8 at index 2. With kSumByMma, every lane has the sum over
  /// all keys of the warp. Otherwise, until finish_sums(), it has the sum over its scores' keys.
  float sum[kBlocks][4];
  float step_sum[4];  ///< wgmma, if kDrains: sum of P of one step, which is then added to `sum`
};

/// The initial maximum: below every score, and finite, so that a row whose keys are all masked does
/// not compute inf - inf.
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
#pragma unroll
  for (float& sum : state.step_sum) sum = 0.0f;
}

/// Returns 2^x. `index`: index among four adjacent scores of a lane. EXP mixed computes every
/// fourth power by a polynomial, so that the MUFU and FMA units share the work.
__device__ __forceinline__ float probability(float x, int index) {
  if constexpr (EXP == EXP_POLY2) return exp2_poly<2>(x);
  if constexpr (EXP == EXP_POLY3) return exp2_poly<3>(x);
  if constexpr (EXP == EXP_MIXED) {
    if (index == 3) return exp2_poly<3>(x);
  }
  return ptx::exp2_mufu(x);
}

/// P of a row is 2^(score * scale + shift). With is_linear(), score * scale + shift is instead the
/// byte of P in e4m3, times kByteUnit.
struct Exponent {
  float scale, shift;
};

/// EXP linear: 8 (x + 7) is the byte of e4m3 2^x, interpolated linearly between powers of two
/// (Schraudolph, 1999). kByteOffset makes the mean of the relative error 0; its rms is 3.1 %,
/// whereas rounding the exact 2^x to e4m3 has 2.6 %. If 2^x is below 2^-7, the byte is 0.
constexpr float kByteUnit = 1.0f / (1 << 24);  // the unit of units_from_f32()
constexpr u32 kLowBytes = 0x6420;  // selects the low bytes of four numbers of 16 bits
constexpr float kByteScale = 8 * kByteUnit;
constexpr float kByteOffset = (8 * 7 - 0.46f) * kByteUnit;

__device__ __forceinline__ Exponent exponent_of(float maximum, float scale, bool linear) {
  const float shift = fmaf(-maximum, scale, kPOffset);
  if (!linear) return {scale, shift};
  return {scale * kByteScale, fmaf(shift, kByteScale, kByteOffset)};
}

struct RowMaxima {
  float row;  ///< the largest score of the row
  /// With kCeilings, the smallest of the four lanes' maxima of the row: it is close to `row` unless
  /// few scores of the row are large.
  float least_lane;
};

__device__ __forceinline__ RowMaxima row_maxima(const Scores& scores, int block, int half) {
  float lane = fmaxf(scores.at[block][0][2 * half], scores.at[block][0][2 * half + 1]);
#pragma unroll
  for (int n = 1; n < kStepTiles; ++n) {
    lane = fmaxf(lane, fmaxf(scores.at[block][n][2 * half], scores.at[block][n][2 * half + 1]));
  }
  const float other = ptx::shuffle_xor(lane, 1);
  const float pair = fmaxf(lane, other);
  const float row = fmaxf(pair, ptx::shuffle_xor(pair, 2));
  if constexpr (!kCeilings) return {row, 0.0f};
  const float least = fminf(lane, other);
  return {row, fminf(least, ptx::shuffle_xor(least, 2))};
}

/// The factors that make sums relative to the new row maxima instead of the old ones.
struct Rescaling {
  bool needed;  ///< rarely true with LAZY_RESCALE; uniform over the warp
  float factor[kBlocks][2];
};

/// Raises the running maxima to those of the new scores. With LAZY_RESCALE, raises them only if a P
/// of the warp would exceed 2^LAZY_RESCALE, or 2^kPOffset with kCeilings, which also raises them
/// further if many scores are near the maximum, so that they need not be raised again soon.
__device__ __forceinline__ Rescaling raise_maxima(Accumulated& state, const Scores& scores,
                                                  float scale) {
  Rescaling rescaling;
  float raised[kBlocks][2];
  rescaling.needed = LAZY_RESCALE == 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float before = state.maximum[block][half];
      const RowMaxima now = row_maxima(scores, block, half);
      raised[block][half] = fmaxf(before, now.row);
      if constexpr (kCeilings) {
        if (now.row <= before) continue;
        rescaling.needed = true;
        const float doubled = ptx::reciprocal(scale);  // added to a score, it doubles P
        raised[block][half] =
            fmaxf(now.row + doubled, fmaf(doubled, LAZY_RESCALE, now.least_lane));
      } else if constexpr (LAZY_RESCALE > 0) {
        rescaling.needed |=
            (raised[block][half] - before) * scale > static_cast<float>(LAZY_RESCALE);
      }
    }
  }
  if constexpr (LAZY_RESCALE > 0) rescaling.needed = ptx::any_lane(rescaling.needed);
  if (kBranches && !rescaling.needed) return rescaling;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!rescaling.needed) raised[block][half] = state.maximum[block][half];
      rescaling.factor[block][half] =
          ptx::exp2_mufu((state.maximum[block][half] - raised[block][half]) * scale);
      state.maximum[block][half] = raised[block][half];
      if constexpr (!kSumByMma) state.sum[block][2 * half] *= rescaling.factor[block][half];
    }
  }
  return rescaling;
}

/// Rescales the accumulators of P V. With wgmma, no product that uses these accumulators may be in
/// flight.
__device__ __forceinline__ void rescale(Accumulated& state, const Rescaling& rescaling) {
  if (!rescaling.needed) return;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float factor = rescaling.factor[block][half];
      if constexpr (kSumByMma) state.sum[block][2 * half] *= factor;
#pragma unroll
      for (int n = 0; n < kColumnTiles; ++n) {
        state.output[block][n][2 * half] *= factor;
        state.output[block][n][2 * half + 1] *= factor;
      }
    }
  }
}

__device__ __forceinline__ void update_maxima(Accumulated& state, const Scores& scores,
                                              float scale) {
  rescale(state, raise_maxima(state, scores, scale));
}

/// P of a step, packed as the A operands of P V: operand i is words 2i and 2i + 1. Two adjacent
/// accumulators become a pair of f16; those of two adjacent n-tiles become a word of e4m3.
struct Probabilities {
  u32 word[kBlocks][kPvFp8 ? kStepTiles / 2 : kStepTiles][2];
};

__device__ __forceinline__ ptx::Fragment operand_of(const Probabilities& p, int block, int i) {
  return {{p.word[block][2 * i][0], p.word[block][2 * i][1], p.word[block][2 * i + 1][0],
           p.word[block][2 * i + 1][1]}};
}

/// Keeps the compiler from moving a use of P across this call.
__device__ __forceinline__ void keep_here(Probabilities& p) {
#pragma unroll
  for (auto& words : p.word[0]) asm volatile("" : "+r"(words[0]), "+r"(words[1])::"memory");
}

/// Replaces the scores of n-tiles n and n + 1 by P, and adds P to the row sums. With is_linear(n),
/// P is in units of kByteUnit.
__device__ __forceinline__ void exponentiate_pair(Scores& scores, Accumulated& state, int n,
                                                  float scale) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Exponent exponent = exponent_of(state.maximum[block][half], scale, is_linear(n));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& score = scores.at[block][n + i / 2][2 * half + i % 2];
        score = fmaf(score, exponent.scale, exponent.shift);
        if (!is_linear(n)) score = probability(score, i);
        if constexpr (!kSumByMma) state.sum[block][2 * half] += score;
      }
    }
  }
}

/// Packs n-tiles n and n + 1 of P as operands.
__device__ __forceinline__ void pack_pair(Probabilities& packed, const Scores& p, int n) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float(&even)[4] = p.at[block][n];
      const float(&odd)[4] = p.at[block][n + 1];
      const int i = 2 * half;
#if PV_MODE == PV_MODE_FP8
      packed.word[block][n / 2][half] =
          is_linear(n)
              ? ptx::permute_bytes(ptx::units_from_f32(even[i], even[i + 1]),
                                   ptx::units_from_f32(odd[i], odd[i + 1]), kLowBytes)
              : ptx::e4m3x4_from_f32(even[i], even[i + 1], odd[i], odd[i + 1]);
#else
      packed.word[block][n][half] = ptx::f16x2_from_f32(even[i], even[i + 1]);
      packed.word[block][n + 1][half] = ptx::f16x2_from_f32(odd[i], odd[i + 1]);
#endif
    }
  }
}

/// Packs P of a step, relative to the maxima of earlier steps; the scores stay unchanged. Returns
/// true if a P of the warp is so large that the maxima must be raised first: 448 in e4m3, to which
/// larger values are rounded, or 2^15 in f16.
__device__ __forceinline__ bool overflows(Probabilities& packed, float (&sum)[kBlocks][2],
                                          const Scores& scores, const Accumulated& state,
                                          float scale) {
  constexpr u32 kCarry = kPvFp8 ? 0x02020202u : 0x08000800u;  // sets the sign bit of a large P
  constexpr u32 kSigns = kPvFp8 ? 0x80808080u : 0x80008000u;
  u32 large = 0;
  u32 largest = 0;  // of the bytes from linear interpolation, in each half
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[block][half] = 0.0f;
#pragma unroll
      for (int n = 0; n < kStepTiles; n += 2) {
        const Exponent exponent = exponent_of(state.maximum[block][half], scale, is_linear(n));
        float p[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float score = scores.at[block][n + i / 2][2 * half + i % 2];
          p[i] = fmaf(score, exponent.scale, exponent.shift);
          if (!is_linear(n)) p[i] = probability(p[i], i);
          if constexpr (!kSumByMma) sum[block][half] += p[i];
        }
#if PV_MODE == PV_MODE_FP8
        u32& word = packed.word[block][n / 2][half];
        if (is_linear(n)) {
          const u32 low = ptx::units_from_f32(p[0], p[1]);
          const u32 high = ptx::units_from_f32(p[2], p[3]);
          word = ptx::permute_bytes(low, high, kLowBytes);
          largest = ptx::max_f16x2(largest, ptx::max_f16x2(low, high));
          continue;
        }
        word = ptx::e4m3x4_from_f32(p[0], p[1], p[2], p[3]);
        large |= word + kCarry;
#else
        packed.word[block][n][half] = ptx::f16x2_from_f32(p[0], p[1]);
        packed.word[block][n + 1][half] = ptx::f16x2_from_f32(p[2], p[3]);
        large |= (packed.word[block][n][half] + kCarry) | (packed.word[block][n + 1][half] + kCarry);
#endif
      }
    }
  }
  const u32 large_bytes = (largest + 0x00020002u) & 0xFF80FF80u;
  return ptx::any_lane((large & kSigns | large_bytes) != 0);
}

/// Calls mask_scores() if a key of the step may be masked.
__device__ __forceinline__ void mask_if_needed(Scores& scores, int first_key, int first_row,
                                               int kv_len, const Role& role) {
  const int safe_keys = kCausal ? min(kv_len, first_row + 1) : kv_len;
  if (first_key + STEP_N > safe_keys) mask_scores(scores, first_key, first_row, kv_len, role);
}
