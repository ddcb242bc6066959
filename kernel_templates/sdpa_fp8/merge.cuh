// Merges the results of warps and CTAs that processed different keys of the same queries: within a
// CTA through shared memory, between CTAs through global memory, always in the same order, so that
// a second run gives the same bits.
//
// The accumulators of O are stored as fragments: 256 floats for each block of 16 rows and chunk of
// 16 columns. Lane L = 4 g + t owns four floats from 4 L on (row g) and four from 128 + 4 L on (row
// g + 8): columns 16 chunk + 4 t to 16 chunk + 4 t + 3. Lane L of another warp reads the floats of
// lane L, so there are no bank conflicts.
//
// Include mma_tiles.cuh or wgmma_tiles.cuh before this file: they define sync_consumers(), and
// include the file that defines kShares, kShareChunks, kExchange, kStats and kBroadcast.
#pragma once

#include "common/convert.cuh"
#include "common/exp2.cuh"
#include "common/memory.cuh"
#include "online_softmax.cuh"

constexpr int kDumpFloats = 256;

/// Running maximum and sum of a row.
struct RowStats {
  float maximum;
  float sum;
};

/// This lane's columns of `chunk` in row g + 8 half, with even and odd n-tile interleaved.
__device__ __forceinline__ Float4 columns_of(const Accumulated& state, int block, int chunk,
                                             int half) {
  const float(&even)[4] = state.output[block][2 * chunk];
  const float(&odd)[4] = state.output[block][2 * chunk + 1];
  return {{even[2 * half], odd[2 * half], even[2 * half + 1], odd[2 * half + 1]}};
}

__device__ __forceinline__ void set_columns(Accumulated& state, int block, int chunk, int half,
                                            const Float4& columns) {
  float(&even)[4] = state.output[block][2 * chunk];
  float(&odd)[4] = state.output[block][2 * chunk + 1];
  even[2 * half] = columns.value[0];
  odd[2 * half] = columns.value[1];
  even[2 * half + 1] = columns.value[2];
  odd[2 * half + 1] = columns.value[3];
}

/// For merging a row's `kParts` parts: the factor of each part's sums, and the merged statistics.
template <int kParts>
struct Weights {
  float factor[kParts];
  RowStats total;

  __device__ __forceinline__ Weights(const RowStats (&parts)[kParts], float scale) {
    total = {parts[0].maximum, 0.0f};
#pragma unroll
    for (int i = 1; i < kParts; ++i) total.maximum = fmaxf(total.maximum, parts[i].maximum);
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      factor[i] = ptx::exp2_mufu((parts[i].maximum - total.maximum) * scale);
      total.sum = fmaf(parts[i].sum, factor[i], total.sum);
    }
  }
};

/// Adds the row sums of the lanes of a quad, so that every lane has the complete sums of its rows.
__device__ __forceinline__ void finish_sums(Accumulated& state) {
  if constexpr (!kSumByMma) {  // otherwise the mma has added the lanes' sums
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& sum = state.sum[block][2 * half];
        sum += ptx::shuffle_xor(sum, 1);
        sum += ptx::shuffle_xor(sum, 2);
      }
    }
  }
}

/// True if this warp merges and writes the columns of `chunk`; uniform over the warp.
__device__ __forceinline__ bool owns(const Role& role, int chunk) {
  return kShares == 1 || chunk / kShareChunks == role.share;
}

__device__ __forceinline__ u32 dump_address(u32 shared, const Role& role, int share, int block,
                                            int chunk) {
  const int place = (share * (kTileM / 16) + role.row / 16 + block) * kRowChunks + chunk;
  return shared + kExchange + (place * kDumpFloats + 4 * role.lane) * 4;
}

__device__ __forceinline__ u32 stats_address(u32 shared, const Role& role, int share, int block,
                                             int half) {
  return shared + kStats + (share * kTileM + role.row + 16 * block + 8 * half + role.quad) * 8;
}

__device__ __forceinline__ void publish_shares(const Accumulated& state, u32 shared,
                                               const Role& role) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (role.lane4 == 0) {
        ptx::store_shared_pair(stats_address(shared, role, role.share, block, half),
                               state.maximum[block][half], state.sum[block][2 * half]);
      }
#pragma unroll
      for (int chunk = 0; chunk < kRowChunks; ++chunk) {
        if (owns(role, chunk)) continue;
        const Float4 c = columns_of(state, block, chunk, half);
        ptx::store_shared_f32(dump_address(shared, role, role.share, block, chunk) + 512 * half,
                              c.value[0], c.value[1], c.value[2], c.value[3]);
      }
    }
  }
}

/// Merges the results of warps with different keys. After merge_shares(), the statistics and the
/// columns that the warp owns cover all keys of the CTA.
__device__ __forceinline__ void merge_shares(Accumulated& state, u32 shared, const Role& role,
                                             float scale) {
  sync_consumers();  // no warp reads tiles any more
  publish_shares(state, shared, role);
  sync_consumers();
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      RowStats parts[kShares];
#pragma unroll
      for (int s = 0; s < kShares; ++s) {
        const ptx::Pair pair = ptx::load_shared_pair(stats_address(shared, role, s, block, half));
        parts[s] = {pair.first, pair.second};
      }
      const Weights<kShares> weights(parts, scale);
      state.maximum[block][half] = weights.total.maximum;
      state.sum[block][2 * half] = weights.total.sum;
#pragma unroll
      for (int chunk = 0; chunk < kRowChunks; ++chunk) {
        if (!owns(role, chunk)) continue;
        const Float4 own = columns_of(state, block, chunk, half);
        Float4 total = {};
#pragma unroll
        for (int s = 0; s < kShares; ++s) {
          Float4 c = own;
          if (s != role.share) {
            c = ptx::load_shared_f32(dump_address(shared, role, s, block, chunk) + 512 * half);
          }
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            total.value[i] = fmaf(c.value[i], weights.factor[s], total.value[i]);
          }
        }
        set_columns(state, block, chunk, half, total);
      }
    }
  }
}

#if SPLIT_KV > 1
/// The number of floats of a CTA's part of `partials`: the fragments of its rows, then maximum and
/// sum of each row.
constexpr int kPartFloats = kTileM * (HEAD_DIM + 2);

__device__ __forceinline__ float* part_of(float* partials, const Item& item, int split) {
  return partials + (static_cast<u64>(item.tickets) * SPLIT_KV + split) * kPartFloats;
}
__device__ __forceinline__ float* part_columns(float* part, const Role& role, int block, int chunk,
                                               int half) {
  const int place = (role.row / 16 + block) * kRowChunks + chunk;
  return part + place * kDumpFloats + 128 * half + 4 * role.lane;
}
__device__ __forceinline__ float* part_stats(float* part, const Role& role, int block, int half) {
  return part + kTileM * HEAD_DIM + 2 * (role.row + 16 * block + 8 * half + role.quad);
}

__device__ __forceinline__ void write_part(const Accumulated& state, float* part,
                                           const Role& role) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (role.lane4 == 0 && role.share == 0) {
        float* stats = part_stats(part, role, block, half);
        stats[0] = state.maximum[block][half];
        stats[1] = state.sum[block][2 * half];
      }
#pragma unroll
      for (int chunk = 0; chunk < kRowChunks; ++chunk) {
        if (!owns(role, chunk)) continue;
        *reinterpret_cast<Float4*>(part_columns(part, role, block, chunk, half)) =
            columns_of(state, block, chunk, half);
      }
    }
  }
}

__device__ __forceinline__ void read_parts(Accumulated& state, float* partials, const Item& item,
                                           const Role& role, float scale) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      RowStats parts[SPLIT_KV];
#pragma unroll
      for (int s = 0; s < SPLIT_KV; ++s) {
        const ptx::Pair pair =
            ptx::load_global_pair(part_stats(part_of(partials, item, s), role, block, half));
        parts[s] = {pair.first, pair.second};
      }
      const Weights<SPLIT_KV> weights(parts, scale);
      state.maximum[block][half] = weights.total.maximum;
      state.sum[block][2 * half] = weights.total.sum;
#pragma unroll
      for (int chunk = 0; chunk < kRowChunks; ++chunk) {
        if (!owns(role, chunk)) continue;
        Float4 total = {};
#pragma unroll
        for (int s = 0; s < SPLIT_KV; ++s) {
          const Float4 c = ptx::load_global_f32(
              part_columns(part_of(partials, item, s), role, block, chunk, half));
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            total.value[i] = fmaf(c.value[i], weights.factor[s], total.value[i]);
          }
        }
        set_columns(state, block, chunk, half, total);
      }
    }
  }
}

/// Writes this CTA's part to `partials`. The CTA that arrives last also merges the parts into
/// `state`, sets the ticket back to zero and returns true; the other CTAs return false.
__device__ __forceinline__ bool merge_parts(Accumulated& state, const Problem& problem,
                                            const Item& item, u32 shared, const Role& role,
                                            int thread, float scale) {
  write_part(state, part_of(problem.partials, item, item.split), role);
  sync_consumers();  // the whole part is written before thread 0 releases it
  u32* ticket = problem.queue + 2 + item.tickets;
  if (thread == 0) {
    const bool last = ptx::atomic_add_ordered(ticket, 1) == SPLIT_KV - 1;
    if (last) ptx::atomic_store(ticket, 0);
    ptx::store_shared_word(shared + kBroadcast, last ? 1 : 0);
  }
  sync_consumers();
  if (ptx::load_shared_word(shared + kBroadcast) == 0) return false;
  read_parts(state, problem.partials, item, role, scale);
  return true;
}
#endif

/// Normalises the rows that exist and writes them: 8 bytes per lane, a whole sector per quad.
__device__ __forceinline__ void write_rows(const Accumulated& state, const Problem& problem,
                                           const Item& item, const Role& role, float scale,
                                           float value_scale) {
  const float kLn2 = 0.6931471805599453f;
  const int first = item.first_row + role.row + role.quad;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + 16 * block + 8 * half;
      if (row >= problem.q_len) continue;
      const u64 place = static_cast<u64>(item.head) * problem.q_len + row;
      const float sum = state.sum[block][2 * half];
      const float factor = __fdividef(value_scale, sum);  // error 2 ulp, less than f16's rounding
      u16* o = problem.o + place * HEAD_DIM + 4 * role.lane4;
#pragma unroll
      for (int chunk = 0; chunk < kRowChunks; ++chunk) {
        if (!owns(role, chunk)) continue;
        const Float4 c = columns_of(state, block, chunk, half);
        *reinterpret_cast<HalfChunk*>(o + 16 * chunk) = {
            {ptx::f16x2_from_f32(c.value[0] * factor, c.value[1] * factor),
             ptx::f16x2_from_f32(c.value[2] * factor, c.value[3] * factor)}};
      }
      if (problem.lse != nullptr && role.lane4 == 0 && role.share == 0) {
        const float log2_sum = ptx::log2_mufu(sum) - kPOffset;
        problem.lse[place] = fmaf(state.maximum[block][half], scale, log2_sum) * kLn2;
      }
    }
  }
}
