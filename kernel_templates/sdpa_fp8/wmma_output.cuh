// The output of a warp: f32 accumulators of its rows, summed over its keys.
#pragma once

#include "common/convert.cuh"
#include "common/wmma.cuh"
#include "wmma_config.cuh"
#include "wmma_tiles.cuh"

#if PV_WMMA

struct Output {
  ptx::Accumulator sum[kRowGroups][HEAD_DIM / 16];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) {
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 16; ++d) sum[g][d] = ptx::zero_accumulator();
    }
  }

  /// Multiplies each row by its factor.
  __device__ __forceinline__ void rescale(const float* factors) {
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) {
      const ptx::Accumulator factor = ptx::broadcast_column(factors + 16 * g);
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 16; ++d) {
#pragma unroll
        for (int i = 0; i < 8; ++i) sum[g][d].value[i] *= factor.value[i];
      }
    }
  }

  __device__ __forceinline__ void add_tile(const u8* pool, const Role& role, int /*slot*/,
                                           const float* /*scores*/, const u16* probs) {
    const u16* values =
        reinterpret_cast<const u16*>(pool + kVHalfOffset) + role.split * kKeys * kVHalfStride;
#pragma unroll kUnroll
    for (int block = 0; block < kKeys / 16; ++block) {
      ptx::Operand p[kRowGroups];
#pragma unroll
      for (int g = 0; g < kRowGroups; ++g) {
        p[g] = ptx::load_a(probs + 16 * g * kProbStride + 16 * block, kProbStride);
      }
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 16; ++d) {
        const ptx::Operand v =
            ptx::load_b_rows(values + 16 * block * kVHalfStride + 16 * d, kVHalfStride);
#pragma unroll
        for (int g = 0; g < kRowGroups; ++g) ptx::multiply_add_rows(sum[g][d], p[g], v);
      }
    }
  }

  /// Adds the warp's rows to `out` (with stride kOutStride) if `add`, otherwise stores them there.
  __device__ __forceinline__ void deposit(float* out, const Role& /*role*/, bool add) {
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) {
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 16; ++d) {
        float* place = out + 16 * g * kOutStride + 16 * d;
        if (add) {
          const ptx::Accumulator other = ptx::load_accumulator(place, kOutStride);
#pragma unroll
          for (int i = 0; i < 8; ++i) sum[g][d].value[i] += other.value[i];
        }
        ptx::store_accumulator(place, sum[g][d], kOutStride);
      }
    }
  }
};

#else  // scalar: a lane has kColumns adjacent columns of all 16 rows

constexpr int kColumns = HEAD_DIM / kWarp;

struct Output {
  float sum[kRows][kColumns];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum[row][c] = 0.0f;
    }
  }

  __device__ __forceinline__ void rescale(const float* factors) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum[row][c] *= factors[row];
    }
  }

  /// Loads kColumns e4m3 values of one key.
  static __device__ __forceinline__ void load_value(float (&value)[kColumns], const u8* bytes) {
#pragma unroll
    for (int c = 0; c < kColumns; c += 2) {
      const u32 pair = ptx::f16x2_from_e4m3x2(*reinterpret_cast<const u16*>(bytes + c));
      value[c] = low_half(pair);
      value[c + 1] = high_half(pair);
    }
  }

  __device__ __forceinline__ void add_tile(u8* pool, const Role& role, int slot,
                                           const float* scores, const u16* /*probs*/) {
    const u8* v = v_slot(pool, slot) + role.split * kKeys * HEAD_DIM + role.lane * kColumns;
#pragma unroll 1
    for (int key = 0; key < kKeys; key += 4) {
      float value[4][kColumns];
#pragma unroll
      for (int j = 0; j < 4; ++j) load_value(value[j], v + (key + j) * HEAD_DIM);
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        const Float4 p = *reinterpret_cast<const Float4*>(scores + row * kScoreStride + key);
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            sum[row][c] = fmaf(p.value[j], value[j][c], sum[row][c]);
          }
        }
      }
    }
  }

  __device__ __forceinline__ void deposit(float* out, const Role& role, bool add) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        float* place = out + row * kOutStride + role.lane * kColumns + c;
        *place = add ? *place + sum[row][c] : sum[row][c];
      }
    }
  }
};

#endif
