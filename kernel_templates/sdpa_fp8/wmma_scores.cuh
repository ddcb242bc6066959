// Scores: the raw dot products of a warp's rows with its keys of the tile, in its score buffer.
#pragma once

#include "common/convert.cuh"
#include "common/wmma.cuh"
#include "wmma_config.cuh"
#include "wmma_tiles.cuh"

#if QK_WMMA

/// The warp's rows of Q as wmma operands, kept in registers or loaded at each use.
struct Queries {
#if Q_IN_REGS
  ptx::Operand fragment[kRowGroups][HEAD_DIM / 16];
#endif
  const u16* rows;

  __device__ __forceinline__ Queries(const u8* pool, const Role& role)
      : rows(reinterpret_cast<const u16*>(pool + kQOffset) + role.first_row * kQStride) {
#if Q_IN_REGS
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) {
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 16; ++d) {
        fragment[g][d] = ptx::load_a(rows + 16 * g * kQStride + 16 * d, kQStride);
      }
    }
#endif
  }

  __device__ __forceinline__ ptx::Operand operand(int group, int d) const {
#if Q_IN_REGS
    return fragment[group][d];
#else
    return ptx::load_a(rows + 16 * group * kQStride + 16 * d, kQStride);
#endif
  }
};

__device__ __forceinline__ void compute_scores(u8* pool, const Queries& queries, const Role& role,
                                               int /*slot*/, float* scores) {
  const u16* keys =
      reinterpret_cast<const u16*>(pool + kKHalfOffset) + role.split * kKeys * kKHalfStride;
#pragma unroll kUnroll
  for (int block = 0; block < kKeys / 16; ++block) {
    ptx::Accumulator sum[kRowGroups];
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) sum[g] = ptx::zero_accumulator();
#pragma unroll
    for (int d = 0; d < HEAD_DIM / 16; ++d) {
      const ptx::Operand k =
          ptx::load_b_columns(keys + 16 * block * kKHalfStride + 16 * d, kKHalfStride);
#pragma unroll
      for (int g = 0; g < kRowGroups; ++g) {
        ptx::multiply_add_columns(sum[g], queries.operand(g, d), k);
      }
    }
#pragma unroll
    for (int g = 0; g < kRowGroups; ++g) {
      ptx::store_accumulator(scores + 16 * g * kScoreStride + 16 * block, sum[g], kScoreStride);
    }
  }
}

#else  // scalar

struct Queries {
  const float* rows;

  __device__ __forceinline__ Queries(const u8* pool, const Role& role)
      : rows(reinterpret_cast<const float*>(pool + kQOffset) + role.first_row * kQStride) {}
};

/// Four rows times one key: sum[r] += q[r] . k over 8 e4m3.
__device__ __forceinline__ void add_dot_products(float (&sum)[4], const float* q, u32 k_low,
                                                 u32 k_high) {
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const HalfChunk halves = f16x4_from_e4m3x4(w == 0 ? k_low : k_high);
    const float k0 = low_half(halves.word[0]);
    const float k1 = high_half(halves.word[0]);
    const float k2 = low_half(halves.word[1]);
    const float k3 = high_half(halves.word[1]);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Float4 x = *reinterpret_cast<const Float4*>(q + r * kQStride + 4 * w);
      sum[r] = fmaf(x.value[0], k0, sum[r]);
      sum[r] = fmaf(x.value[1], k1, sum[r]);
      sum[r] = fmaf(x.value[2], k2, sum[r]);
      sum[r] = fmaf(x.value[3], k3, sum[r]);
    }
  }
}

/// A lane processes one key and four rows at a time; with only 16 keys, the half-warps process
/// different rows.
__device__ __forceinline__ void compute_scores(u8* pool, const Queries& queries, const Role& role,
                                               int slot, float* scores) {
  constexpr int kKeyLanes = kKeys < kWarp ? kKeys : kWarp;
  constexpr int kRowLanes = kWarp / kKeyLanes;
  const u8* k_bytes = k_slot(pool, slot);
#pragma unroll 1
  for (int key = role.lane % kKeyLanes; key < kKeys; key += kKeyLanes) {
#pragma unroll 1
    for (int row = role.lane / kKeyLanes * 4; row < kRows; row += 4 * kRowLanes) {
      float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
      for (int chunk = 0; chunk < kRowChunks; ++chunk) {
        const Chunk k = *reinterpret_cast<const Chunk*>(
            k_bytes + k_slot_offset(role.split * kKeys + key, chunk));
        const float* q = queries.rows + row * kQStride + 16 * chunk;
#pragma unroll 1  // if unrolled, the loads of Q alone would take 64 registers
        for (int half = 0; half < 2; ++half) {
          add_dot_products(sum, q + 8 * half, half == 0 ? k.word[0] : k.word[2],
                           half == 0 ? k.word[1] : k.word[3]);
        }
      }
#pragma unroll
      for (int r = 0; r < 4; ++r) scores[(row + r) * kScoreStride + key] = sum[r];
    }
  }
}

#endif
