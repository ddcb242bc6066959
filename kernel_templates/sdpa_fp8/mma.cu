// FP8 attention forward, O = softmax(scale Q K^T) V, with online softmax and mma.sync: scores and
// probabilities stay in registers.
//
// Q: e4m3 (B, H, Lq, D); K, V: e4m3 (B, Hkv, Lkv, D), H a multiple of Hkv; one descale factor for
// each tensor, or for each of its (batch, head); O: f16; optionally the log-sum-exp. Lq, Lkv >= 1;
// Lq * D, Lkv * D < 2^31; D = HEAD_DIM. CAUSAL: query i sees keys 0 … i. Scales are positive. The
// kernel runs on sm_80 and newer; its fp8 modes need sm_89.
//
// A work item is kTileM queries of one (batch, head) and 1 / SPLIT_KV of the keys. A warp processes
// WARP_M of the queries and TILE_N / WARPS_KV keys of every tile of TILE_N keys, STEP_N at a time:
//
//   1. scores = Q K^T           fragments from the bytes of K; QK_MODE f16 unpacks them to f16
//   2. mask                     only where a tile reaches beyond the last key or the diagonal
//   3. running maximum          the sums of earlier steps are rescaled
//   4. P = 2^(scores - maximum)
//   5. O += P V                 P has the layout of an A operand; V is transposed while loaded
//
// At the end the results for different keys are merged: first of the warps, then of SPLIT_KV CTAs.

#include "mma_config.cuh"

#include "mma_tiles.cuh"

#include "merge.cuh"
#include "mma_scores.cuh"
#include "mma_values.cuh"

#if PRODUCER_WARPS > 0
using Ring = ProducedRing;
#else
using Ring = SharedRing;
#endif

/// The keys of one tile that a warp processes.
struct Place {
    u32 k_rows;  ///< shared address of K's row for the first key
  u32 v_rows;  ///< the same for V
  int first_key;
};

__device__ __forceinline__ Place place_of(const Tiles& tiles, const Ring& ring, const Role& role,
                                          int step) {
  const u32 share = static_cast<u32>(role.share * kKeys * kRowBytes);
  return {tiles.shared + kKRing + ring.slot_k(step) * kSlotBytes + share,
          tiles.shared + kVRing + ring.slot_v(step) * kSlotBytes + share,
          tiles.first_key(step) + role.share * kKeys};
}

/// Processes the warp's keys of all tiles, step by step.
__device__ __forceinline__ void attend_tiles(Accumulated& state, const Queries& queries,
                                             const Ring& ring, const Tiles& tiles, int first_row,
                                             const Role& role, int thread, float scale) {
#pragma unroll 1
  for (int step = 0; step < tiles.count; ++step) {
    const Place place = place_of(tiles, ring, role, step);
    ring.acquire_k(tiles, step, thread);
#pragma unroll 1
    for (int key = 0; key < kKeys; key += STEP_N) {
      Scores scores;
      compute_scores(scores, queries, place.k_rows + key * kRowBytes, role);
      if (key + STEP_N == kKeys) ring.release_k(step, role);
      mask_if_needed(scores, place.first_key + key, first_row, tiles.kv_len, role);
      update_maxima(state, scores, scale);
      Probabilities p;
#pragma unroll
      for (int n = 0; n < kStepTiles; n += 2) {
        exponentiate_pair(scores, state, n, scale);
        pack_pair(p, scores, n);
      }
      if (key == 0) ring.acquire_v(tiles, step, thread);
      add_values(state, p, place.v_rows + key * kRowBytes, role);
    }
    ring.release_v(step, role);
  }
}

/// Like attend_tiles(), but computes the next scores between the exponentials of this step, so that
/// a warp keeps the tensor cores and the other units busy at once. The next scores use the
/// registers of scores that have just become P.
__device__ __forceinline__ void attend_tiles_pipelined(Accumulated& state, const Queries& queries,
                                                       const Ring& ring, const Tiles& tiles,
                                                       int first_row, const Role& role, int thread,
                                                       float scale) {
  if (tiles.count == 0) return;
  Scores scores;
  Place place = place_of(tiles, ring, role, 0);
  ring.acquire_k(tiles, 0, thread);
  compute_scores(scores, queries, place.k_rows, role);
#pragma unroll 1
  for (int step = 0; step < tiles.count; ++step) {
    const Place next = place_of(tiles, ring, role, step + 1);
    const bool last = step + 1 == tiles.count;
#pragma unroll 1
    for (int key = 0; key < kKeys; key += STEP_N) {
      const bool crosses = key + STEP_N == kKeys;
      if (crosses) {
        if (!last) ring.release_k(step, role);
        if (PRODUCER_WARPS == 0 || !last) ring.acquire_k(tiles, step + 1, thread);
      }
      mask_if_needed(scores, place.first_key + key, first_row, tiles.kv_len, role);
      update_maxima(state, scores, scale);
      Probabilities p;
      // After the last step, compute_tile() reads the last tile again; its result is not used.
      const u32 rows =
          crosses ? (last ? place.k_rows : next.k_rows) : place.k_rows + (key + STEP_N) * kRowBytes;
#pragma unroll
      for (int n = 0; n < kStepTiles; n += 2) {
        exponentiate_pair(scores, state, n, scale);
        pack_pair(p, scores, n);
        compute_tile(scores, queries, rows, n, role);
        compute_tile(scores, queries, rows, n + 1, role);
      }
      if (PRODUCER_WARPS > 0 && key == 0) ring.acquire_v(tiles, step, thread);
      add_values(state, p, place.v_rows + key * kRowBytes, role);
    }
    ring.release_v(step, role);
    place = next;
  }
  ring.release_k(tiles.count - 1, role);
}

/// Called by the warps that compute: processes one work item, from its queries to its rows of O.
__device__ __forceinline__ void consume(const Problem& problem, const Item& item, const Ring& ring,
                                        const Tiles& tiles, int thread) {
  const Role role = role_of(thread);
  const u8* q = problem.q + static_cast<u64>(item.head) * problem.q_len * HEAD_DIM;
  Queries queries;
  if constexpr (kQInShared) {
    // A CTA without keys copies no queries, because nothing would wait for the copies.
    if (SPLIT_KV == 1 || tiles.count > 0) {
      copy_rows<kTileM, kConsumers>(tiles.shared, q + item.first_row * HEAD_DIM,
                                    problem.q_len - item.first_row, thread);
    }
    queries.shared = tiles.shared + (role.row + role.quad) * kRowBytes;
  }
  ring.start(tiles, thread);
  if constexpr (!kQInShared) queries.load(q, item, role, problem.q_len);
  const Scales scales = scales_of(problem, load_descales(problem, item));
  if constexpr (kQInShared && PRODUCER_WARPS > 0) {
    ptx::commit_copies();
    ptx::wait_copies<0>();
    sync_consumers();
  }
  Accumulated state;
  clear(state);
  const int first_row = item.first_row + role.row;
  if constexpr (kPipelined) {
    attend_tiles_pipelined(state, queries, ring, tiles, first_row, role, thread, scales.score);
  } else {
    attend_tiles(state, queries, ring, tiles, first_row, role, thread, scales.score);
  }
  finish_sums(state);
  if constexpr (kShares > 1) merge_shares(state, tiles.shared, role, scales.score);
#if SPLIT_KV > 1
  if (!merge_parts(state, problem, item, tiles.shared, role, thread, scales.score)) return;
#endif
  write_rows(state, problem, item, role, scales.score, scales.value);
}

__device__ __forceinline__ void attend(const Problem& problem, const Item& item, Ring& ring,
                                       u32 shared) {
  const int thread = static_cast<int>(threadIdx.x);
  const u64 kv = static_cast<u64>(item.kv_head) * problem.kv_len * HEAD_DIM;
  const Tiles tiles = {shared,          problem.k + kv, problem.v + kv,
                       item.first_tile, item.tiles,     problem.kv_len};
#if PRODUCER_WARPS > 0
  if (thread >= kConsumers) {
    ring.produce(tiles, thread - kConsumers);
  } else {
    consume(problem, item, ring, tiles, thread);
  }
  ring.used += item.tiles;
#else
  consume(problem, item, ring, tiles, thread);
#endif
}

#if PERSISTENT_CTA != PERSISTENT_CTA_NONE
/// The work item with number `index`. Items are numbered head by head or, with CAUSAL, from most
/// to fewest keys.
__device__ __forceinline__ Item item_at(const Problem& problem, int index, int lines) {
  return kCausal ? item_of(problem, index % problem.batch_heads, index / problem.batch_heads)
                 : item_of(problem, index / lines, index % lines);
}

/// Processes work items at a stride, or claims them from the queue, which is zero again at the end.
__device__ __forceinline__ void attend_all(const Problem& problem, Ring& ring, u32 shared) {
  const int lines = ceil_div(problem.q_len, kTileM);
  const int items = lines * problem.batch_heads;
  int index = static_cast<int>(blockIdx.x);
  u32 claim = shared + kBroadcast;
#pragma unroll 1
  while (index < items) {
    int next = index + static_cast<int>(gridDim.x);
    // The next item is claimed when this item starts, so that the atomic's result arrives in time.
    if (kQueued && threadIdx.x == 0) {
      next = static_cast<int>(gridDim.x + ptx::atomic_add(problem.queue, 1));
    }
    attend(problem, item_at(problem, index, lines), ring, shared);
    // All warps must have read this item's shared memory before it is written for the next item.
    if constexpr (kQueued) {
      claim ^= 4;  // a separate word, because some warp may not have read the last claim yet
      if (threadIdx.x == 0) ptx::store_shared_word(claim, static_cast<u32>(next));
      ptx::sync_cta();
      next = static_cast<int>(ptx::load_shared_word(claim));
    } else if constexpr (PRODUCER_WARPS == 0) {
      ptx::sync_cta();
    } else if constexpr (kQInShared) {
      if (threadIdx.x < kConsumers) sync_consumers();
    }
    index = next;
  }
  if constexpr (kQueued) {
    if (threadIdx.x == 0 && ptx::atomic_add_ordered(problem.queue + 1, 1) == gridDim.x - 1) {
      ptx::atomic_store(problem.queue, 0);
      ptx::atomic_store(problem.queue + 1, 0);
    }
  }
}
#endif

/// Grid: x is SPLIT_KV times the tile of queries, plus the part of the keys; y is the head. If
/// CAUSAL, x and y are swapped. Unless PERSISTENT_CTA is none, x is any number, and y is 1.
/// `queue` is zero before and after the launch.
extern "C" __global__ void __maxnreg__(kMaxRegisters)
    sdpa_fp8_mma(const u8* q, const u8* k, const u8* v, u16* o, float* lse, const float* q_scale,
                 const float* k_scale, const float* v_scale, float softmax_scale, int q_len,
                 int kv_len, int batch_heads, int heads_per_kv, int scale_per_head, int write_lse,
                 u32* queue, float* partials) {
  extern __shared__ __align__(128) u8 pool[];
  const u32 shared = ptx::shared_address(pool);
  const Problem problem = {q,
                           k,
                           v,
                           o,
                           write_lse != 0 ? lse : nullptr,
                           q_scale,
                           k_scale,
                           v_scale,
                           softmax_scale,
                           q_len,
                           kv_len,
                           batch_heads,
                           heads_per_kv,
                           scale_per_head,
                           queue,
                           partials};
#if PDL
  ptx::allow_next_kernel();
#endif
#if PRODUCER_WARPS > 0
  Ring ring = {shared + kBarriers, 0};
  ring.init(static_cast<int>(threadIdx.x));
#else
  Ring ring;
#endif
#if PDL
  ptx::wait_for_previous_kernel();
#endif
#if PERSISTENT_CTA != PERSISTENT_CTA_NONE
  attend_all(problem, ring, shared);
#else
  const int head = static_cast<int>(kCausal ? blockIdx.x : blockIdx.y);
  const int line = static_cast<int>(kCausal ? blockIdx.y : blockIdx.x);
  attend(problem, item_of(problem, head, line), ring, shared);
#endif
}
