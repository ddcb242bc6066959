// Q K^T of a warp: 16 kBlocks rows by STEP_N keys, with fragments made in registers.
//
// The sum over D may have any order that is the same for Q and K, so each lane (4 g + t) loads 16
// adjacent bytes of a row of K, and likewise of Q, and uses them as the k indices of its fragments.
// In f16, the lower two bytes of a word become k 2t, 2t+1 of one mma, the upper two k 2t+8, 2t+9;
// in e4m3, two words are k 4t … 4t+3 and 4t+16 … 4t+19.
#pragma once

#include "common/convert.cuh"
#include "common/memory.cuh"
#include "common/mma.cuh"
#include "mma_tiles.cuh"
#include "online_softmax.cuh"

/// A lane's bytes of Q for one group of 64 columns: in rows g and g + 8 of a block.
struct QueryBytes {
  Chunk low;
  Chunk high;
};

/// The A operands of the four f16 mma for one group of 64 columns.
struct QueryHalves {
  ptx::Fragment step[4];
};

__device__ __forceinline__ QueryHalves halves_of(const QueryBytes& bytes) {
  QueryHalves halves;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const HalfChunk low = f16x4_from_e4m3x4(bytes.low.word[j]);
    const HalfChunk high = f16x4_from_e4m3x4(bytes.high.word[j]);
    halves.step[j] = {{low.word[0], high.word[0], low.word[1], high.word[1]}};
  }
  return halves;
}

/// Q of a warp, in shared memory or registers, as Q_IN_REGS says.
struct Queries {
  u32 shared;  ///< Q_IN_REGS no: address of row `quad` of the warp's first block
  QueryBytes bytes[Q_IN_REGS == Q_IN_REGS_BYTES ? kBlocks : 1][kGroups];
  QueryHalves halves[Q_IN_REGS == Q_IN_REGS_HALVES ? kBlocks : 1][kGroups];

  /// Reads Q from global memory to registers. Rows beyond the last query repeat the last query;
  /// their results are not written.
  __device__ __forceinline__ void load(const u8* q, const Item& item, const Role& role, int q_len) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const int row = item.first_row + role.row + 16 * block + role.quad;
      const u8* low = q + min(row, q_len - 1) * HEAD_DIM + role.lane4 * kChunkBytes;
      const u8* high = q + min(row + 8, q_len - 1) * HEAD_DIM + role.lane4 * kChunkBytes;
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        const QueryBytes loaded = {ptx::load_constant(low + 64 * group),
                                   ptx::load_constant(high + 64 * group)};
        if constexpr (Q_IN_REGS == Q_IN_REGS_BYTES) bytes[block][group] = loaded;
        if constexpr (Q_IN_REGS == Q_IN_REGS_HALVES) halves[block][group] = halves_of(loaded);
      }
    }
  }
  __device__ __forceinline__ QueryBytes bytes_of(int block, int group, const Role& role) const {
    if constexpr (Q_IN_REGS == Q_IN_REGS_BYTES) return bytes[block][group];
    const u32 place = shared + 16 * block * kRowBytes +
                      ((role.lane4 + 4 * group) ^ swizzle_of(role.quad)) * kChunkBytes;
    return {ptx::load_shared(place), ptx::load_shared(place + 8 * kRowBytes)};
  }
  __device__ __forceinline__ QueryHalves group_halves(int block, int group,
                                                      const Role& role) const {
    if constexpr (Q_IN_REGS == Q_IN_REGS_HALVES) return halves[block][group];
    return halves_of(bytes_of(block, group, role));
  }
};

/// The A operands of every block of rows for one group of 64 columns.
struct GroupOperands {
#if QK_MODE == QK_MODE_FP8
  QueryBytes block[kBlocks];
#else
  QueryHalves block[kBlocks];
#endif

  __device__ __forceinline__ GroupOperands(const Queries& queries, int group, const Role& role) {
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
#if QK_MODE == QK_MODE_FP8
      block[b] = queries.bytes_of(b, group, role);
#else
      block[b] = queries.group_halves(b, group, role);
#endif
    }
  }
};

/// Adds the products of one group of columns to n-tile `n`. `k`: 16 bytes of this lane's key.
__device__ __forceinline__ void add_products(Scores& scores, const GroupOperands& q, const Chunk& k,
                                             int n) {
#if QK_MODE == QK_MODE_FP8
#pragma unroll
  for (int j = 0; j < 4; j += 2) {
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      const QueryBytes& bytes = q.block[b];
      const ptx::Fragment a = {
          {bytes.low.word[j], bytes.high.word[j], bytes.low.word[j + 1], bytes.high.word[j + 1]}};
      ptx::mma_e4m3(scores.at[b][n], a, k.word[j], k.word[j + 1]);
    }
  }
#else
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const HalfChunk halves = f16x4_from_e4m3x4(k.word[j]);
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      ptx::mma_f16(scores.at[b][n], q.block[b].step[j], halves.word[0], halves.word[1]);
    }
  }
#endif
}

__device__ __forceinline__ void clear_tile(Scores& scores, int n) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) scores.at[block][n][i] = 0.0f;
  }
}

/// Address of this lane's first chunk in a group of columns. `rows`: address of the step's keys.
__device__ __forceinline__ u32 key_address(u32 rows, int group, const Role& role) {
  return rows + role.quad * kRowBytes +
         ((role.lane4 + 4 * group) ^ swizzle_of(role.quad)) * kChunkBytes;
}

/// Computes all scores of a step. The outer loop unpacks one group of columns of Q after the other.
__device__ __forceinline__ void compute_scores(Scores& scores, const Queries& queries, u32 rows,
                                               const Role& role) {
#pragma unroll
  for (int n = 0; n < kStepTiles; ++n) clear_tile(scores, n);
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    const GroupOperands q(queries, group, role);
    const u32 keys = key_address(rows, group, role);
#pragma unroll
    for (int n = 0; n < kStepTiles; ++n) {
      add_products(scores, q, ptx::load_shared(keys + 8 * n * kRowBytes), n);
    }
  }
}

/// Computes the scores of one n-tile, with Q in registers.
__device__ __forceinline__ void compute_tile(Scores& scores, const Queries& queries, u32 rows,
                                             int n, const Role& role) {
  clear_tile(scores, n);
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    const GroupOperands q(queries, group, role);
    const u32 keys = key_address(rows, group, role);
    add_products(scores, q, ptx::load_shared(keys + 8 * n * kRowBytes), n);
  }
}
