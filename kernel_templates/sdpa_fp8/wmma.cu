// FP8 attention forward, O = softmax(scale Q K^T) V, with online softmax, by wmma or scalar FMA.
//
// Q, K, V: e4m3, (B, H, S, D) contiguous, each with one descale factor; O: f16. S >= 1;
// S * D < 2^31; D = HEAD_DIM; the scales are positive. Compiles for sm_80 and up. A work item is
// TILE_M queries of one (batch, head); a CTA walks over the keys in tiles of TILE_N. Per tile:
//
//   1. K and V arrive in shared memory (plain loads, a ring of cp.async, or producer warps)
//   2. operands that wmma reads are converted to f16
//   3. scores = Q K^T      each warp: its rows x its share of the tile's keys, to its score buffer
//   4. softmax             running row maximum, P relative to it, correction of earlier sums
//   5. O = correction O + P V
//
// At the end the results of the WARPS_KV groups of warps are merged and the rows are written.
// Each warp performs steps 3 to 5 by itself; barriers of the CTA only protect tiles.

#include "wmma_config.cuh"
#include "wmma_output.cuh"
#include "wmma_scores.cuh"
#include "wmma_softmax.cuh"
#include "wmma_tiles.cuh"

struct Scales {
  float score;  ///< factor from a raw dot product of e4m3 values to an exponent of 2
  float value;  ///< descale of V
};

/// Called by producer warps: fills the ring ahead of the consumers, and signals full slots.
__device__ __forceinline__ void produce(u8* pool, const Head& head, int tiles, int copier) {
  // With a larger lag, a tile that has arrived would be announced only after the next slot is free.
  constexpr int kLag = max_of(STAGES - 2, 0);
#pragma unroll 1
  for (int tile = 0; tile < tiles + kLag; ++tile) {
    if (tile < tiles) {
      if (tile >= STAGES) ptx::named_sync(kEmptyBarrier + tile % max_of(STAGES, 1), kThreads);
      copy_tile_async(pool, head, tile, copier);
    }
    ptx::commit_copies();  // even without copies, because wait_copies() counts groups
    ptx::wait_copies<kLag>();
    if (tile >= kLag) {
      ptx::named_arrive(kFullBarrier + (tile - kLag) % max_of(STAGES, 1), kThreads);
    }
  }
}

/// Starts the copies of the first STAGES - 1 tiles, before the loop over the tiles.
__device__ __forceinline__ void start_copies(u8* pool, const Head& head, int tiles, int thread) {
#pragma unroll 1
  for (int tile = 0; tile < STAGES - 1; ++tile) {
    if (tile < tiles) copy_tile_async(pool, head, tile, thread);
    ptx::commit_copies();
  }
}

/// Steps 1 and 2: returns when tile `tile` can be read by every consumer.
__device__ __forceinline__ void acquire_tile(u8* pool, const Head& head, int tile, int tiles,
                                             int thread) {
  if constexpr (STAGES == 0) {
    sync_consumers();  // all warps have finished with the previous tile
    copy_tile_plain(pool, head, tile, thread);
    sync_consumers();
    return;
  } else if constexpr (PRODUCER_WARPS > 0) {
    ptx::named_sync(kFullBarrier + tile % max_of(STAGES, 1), kThreads);
  } else if constexpr (STAGES == 1) {
    sync_consumers();
    copy_tile_async(pool, head, tile, thread);
    ptx::commit_copies();
    ptx::wait_copies<0>();
    sync_consumers();
  } else {
    ptx::wait_copies<max_of(STAGES - 2, 0)>();
    sync_consumers();  // the tile is visible, and the previous tile's slot is free
    if (tile + STAGES - 1 < tiles) copy_tile_async(pool, head, tile + STAGES - 1, thread);
    // Without the empty groups after the last tile, the last waits would return too early.
    ptx::commit_copies();
  }
  if constexpr (STAGES > 0 && (QK_WMMA || PV_WMMA)) {
    dequantise_tile(pool, tile % max_of(STAGES, 1), thread);
    sync_consumers();
  }
}

/// Returns the slot to the producers after its tile has been converted or read.
__device__ __forceinline__ void release_slot(int tile, int tiles) {
  if constexpr (PRODUCER_WARPS > 0) {
    if (tile + STAGES < tiles) {
      ptx::named_arrive(kEmptyBarrier + tile % max_of(STAGES, 1), kThreads);
    }
  }
}

/// Merges the results of warps with different keys and writes O. `correction`: scratch of this
/// warp.
__device__ __forceinline__ void write_rows(u8* pool, const Head& head, int first, const Role& role,
                                           const RowStats& stats, Output& output, float* correction,
                                           const Scales& scales, int thread) {
  float* maxima = reinterpret_cast<float*>(pool + kStatsOffset);
  float* sums = maxima + WARPS_KV * TILE_M;
#pragma unroll
  for (int g = 0; g < kRowGroups; ++g) {
    const int row = role.first_row + 16 * g + role.lane / 2;
    const float sum = stats.sum[g] + ptx::shuffle_xor(stats.sum[g], 1);
    if ((role.lane & 1) == 0) {
      maxima[role.split * TILE_M + row] = stats.maximum[g];
      sums[role.split * TILE_M + row] = sum;
    }
  }
  sync_consumers();  // statistics are visible; no warp reads tiles any more

#pragma unroll 1
  for (int i = role.lane; i < kRows; i += kWarp) {
    const int row = role.first_row + i;
    float largest = maxima[row];
#pragma unroll 1
    for (int s = 1; s < WARPS_KV; ++s) largest = fmaxf(largest, maxima[s * TILE_M + row]);
    float total = 0.0f;
    float own = 0.0f;
#pragma unroll 1
    for (int s = 0; s < WARPS_KV; ++s) {
      const float factor = softmax_exp2((maxima[s * TILE_M + row] - largest) * scales.score);
      total = fmaf(sums[s * TILE_M + row], factor, total);
      if (s == role.split) own = factor;
    }
    correction[i] = own * scales.value * ptx::reciprocal(total);
  }
  ptx::sync_warp();
  output.rescale(correction);

  float* out = reinterpret_cast<float*>(pool + kOutOffset);
#pragma unroll 1
  for (int s = 0; s < WARPS_KV; ++s) {
    if (role.split == s) output.deposit(out + role.first_row * kOutStride, role, s > 0);
    sync_consumers();
  }
#pragma unroll 1
  for (int i = thread; i < TILE_M * (HEAD_DIM / 8); i += kConsumers) {
    const int row = i / (HEAD_DIM / 8);
    const int column = i % (HEAD_DIM / 8) * 8;
    if (first + row >= head.seq_len) continue;
    const Float4 a = *reinterpret_cast<const Float4*>(out + row * kOutStride + column);
    const Float4 b = *reinterpret_cast<const Float4*>(out + row * kOutStride + column + 4);
    *reinterpret_cast<Chunk*>(head.o + (first + row) * HEAD_DIM + column) = {
        {ptx::f16x2_from_f32(a.value[0], a.value[1]), ptx::f16x2_from_f32(a.value[2], a.value[3]),
         ptx::f16x2_from_f32(b.value[0], b.value[1]), ptx::f16x2_from_f32(b.value[2], b.value[3])}};
  }
}

/// Called by consumer warps: processes one work item, rows `first` … `first` + TILE_M - 1.
__device__ __forceinline__ void consume(u8* pool, const Head& head, int first, int tiles,
                                        const Scales& scales, int thread) {
  const int warp = thread / kWarp;
  const Role role = {thread % kWarp, warp / kWarpsM, warp % kWarpsM * kRows, warp};
  float* scores = reinterpret_cast<float*>(pool + kScoreOffset) + role.warp * kRows * kScoreStride;
  u16* probs = reinterpret_cast<u16*>(pool + kProbOffset) + role.warp * kRows * kProbStride;
  float* correction = reinterpret_cast<float*>(pool + kStatsOffset) +
                      (2 * WARPS_KV + role.split) * TILE_M + role.first_row;
  constexpr bool kReadsSlot = !QK_WMMA || !PV_WMMA;

  if constexpr (PRODUCER_WARPS == 0) start_copies(pool, head, tiles, thread);
  load_queries(pool, head, first, thread);
  sync_consumers();
  const Queries queries(pool, role);
  RowStats stats = empty_stats();
  Output output;
  output.clear();

#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    const int slot = tile % max_of(STAGES, 1);
    acquire_tile(pool, head, tile, tiles, thread);
    if constexpr (!kReadsSlot) release_slot(tile, tiles);
    compute_scores(pool, queries, role, slot, scores);
    ptx::sync_warp();
    const int limit = head.seq_len - tile * TILE_N - role.split * kKeys;
    const bool grew = softmax_tile(scores, probs, correction, role, stats, limit, scales.score);
    ptx::sync_warp();
    if (grew) output.rescale(correction);
    output.add_tile(pool, role, slot, scores, probs);
    if constexpr (kReadsSlot) release_slot(tile, tiles);
  }
  write_rows(pool, head, first, role, stats, output, correction, scales, thread);
}

/// Processes one work item: TILE_M queries of one (batch, head).
__device__ __forceinline__ void attend(u8* pool, const Head& all, int item, const Scales& scales) {
  const int thread = static_cast<int>(threadIdx.x);
  const int row_tiles = ceil_div(all.seq_len, TILE_M);
  const int tiles = ceil_div(all.seq_len, TILE_N);
  const u64 offset = static_cast<u64>(item / row_tiles) * all.seq_len * HEAD_DIM;
  const Head head = {all.q + offset, all.k + offset, all.v + offset, all.o + offset, all.seq_len};
  if (PRODUCER_WARPS > 0 && thread >= kConsumers) {
    produce(pool, head, tiles, thread - kConsumers);
  } else {
    consume(pool, head, item % row_tiles * TILE_M, tiles, scales, thread);
  }
}

/// `queue`: two words, zero before and after the launch, that count the items claimed beyond the
/// first wave, and the CTAs that found no more items. `batch_heads` = B * H. Grid: one CTA per work
/// item or, with PERSISTENT_CTA, any number of CTAs.
extern "C" __global__ void __launch_bounds__(kThreads, MIN_CTAS)
    sdpa_fp8_wmma(const u8* q, const u8* k, const u8* v, u16* o, float* /*lse*/,
                  const float* q_scale, const float* k_scale, const float* v_scale,
                  float softmax_scale, int seq_len, int /*kv_len*/, int batch_heads,
                  int /*heads_per_kv*/, int /*scale_per_head*/, int /*write_lse*/, u32* queue,
                  float* /*partials*/) {
  extern __shared__ __align__(128) u8 pool[];
  const float kLog2E = 1.4426950408889634f;
  const Head all = {q, k, v, o, seq_len};
  const Scales scales = {softmax_scale * *q_scale * *k_scale * kLog2E, *v_scale};
  const int items = ceil_div(seq_len, TILE_M) * batch_heads;
  int item = static_cast<int>(blockIdx.x);
#if PERSISTENT_CTA
  int* claim = reinterpret_cast<int*>(pool + kClaimOffset);
#pragma unroll 1
  while (item < items) {
    // The next item is claimed when this item starts, so that the atomic's result arrives in time.
    int next = 0;
    if (threadIdx.x == 0) next = static_cast<int>(gridDim.x + ptx::atomic_add(queue, 1));
    attend(pool, all, item, scales);
    if (threadIdx.x == 0) *claim = next;
    ptx::sync_cta();  // the claim is visible, and this item's shared memory is free
    item = *claim;
  }
  // A CTA counts itself after its last claim; the last CTA resets the queue.
  if (threadIdx.x == 0 && ptx::atomic_add_ordered(queue + 1, 1) == gridDim.x - 1) {
    ptx::atomic_store(queue, 0);
    ptx::atomic_store(queue + 1, 0);
  }
#else
  if (item < items) attend(pool, all, item, scales);
#endif
}
