// FP8 attention forward by wgmma, for Hopper (sm_90a): what mma.cu computes, from the same arguments.
//
// A warpgroup has 64 queries and, of every tile of TILE_N keys, TILE_N / GROUPS_KV, all in one step:
//
//   1. scores = Q K^T           e4m3 as it is, both operands from shared memory
//   2. mask                     only where a tile reaches beyond the last key or the diagonal
//   3. running maximum          what was summed up so far is rescaled
//   4. P = 2^(scores - maximum)
//   5. O += P V                 P from registers; V was unpacked to f16 on its way
//
// The exponentials are the limit: 16 a clock and SM. So several warpgroups per SM take turns, and
// OVERLAP starts the scores of the next step before the exponentials of this one.

#include "wgmma_config.cuh"

#include "wgmma_tiles.cuh"

#include "merge.cuh"
#include "online_softmax.cuh"

#if PRODUCER_GROUP
using Ring = ProducedRing;
#else
using Ring = SharedRing;
#endif

/// Step 1, started.
__device__ __forceinline__ void start_scores(Scores& scores, const Tiles& tiles, int step,
                                             const Role& role) {
  constexpr u32 kLayout = ptx::tile_layout(
      8 * kRowBytes, HEAD_DIM == 64 ? ptx::Swizzle::k64 : ptx::Swizzle::k128);
  const u32 q = ptx::tile_place(tiles.shared + role.row / 64 * 64 * kRowBytes, 16);
  const u32 k = ptx::tile_place(tiles.shared + kKRing + step % STAGES_K * kSlotBytes +
                                    role.share * kKeys * kRowBytes, 16);
  ptx::start_products();
  ptx::multiply_e4m3<kLayout, false>(scores.at[0], q, k);
#pragma unroll
  for (int column = 32; column < HEAD_DIM; column += 32) {
    ptx::multiply_e4m3<kLayout, true>(scores.at[0], q + column / 16, k + column / 16);
  }
  ptx::commit_products();
}

/// Step 5, started: 16 keys at a time.
__device__ __forceinline__ void start_values(Accumulated& state, const Probabilities& p,
                                             const Tiles& tiles, int step, const Role& role) {
  constexpr u32 kLayout = ptx::tile_layout(8 * 128, ptx::Swizzle::k128);
  constexpr u32 kForward = 16 * 128 / 16;
  const u32 v = tiles.shared + kVRing + step % STAGES_V * kHalfSlotBytes + role.share * kKeys * 128;
  ptx::start_products();
#if SUM_BY_MMA
  // The second panel of columns is the same ones for all keys: the further V, the nearer they are.
  const u32 place = ptx::tile_place(v, tiles.shared + kOnes - v);
#pragma unroll
  for (int i = 0; i < kKeys / 16; ++i) {
    ptx::multiply_f16<kLayout>(state.output[0], state.sum[0], operand_of(p, 0, i),
                               place + i * (kForward - (kForward << 16)));
  }
#else
  const u32 place = ptx::tile_place(v, kPanelBytes);
#pragma unroll
  for (int i = 0; i < kKeys / 16; ++i) {
    ptx::multiply_f16<kLayout>(state.output[0], operand_of(p, 0, i), place + i * kForward);
  }
#endif
  ptx::commit_products();
}

/// Until P V is done.
__device__ __forceinline__ void wait_values(Accumulated& state) {
  ptx::wait_products<0>(state.output[0]);
  ptx::depend_on_products(state.sum[0]);
}

/// Steps 2 and 3: what O must be multiplied by before the next P V.
__device__ __forceinline__ Rescaling mask_and_raise(Scores& scores, Accumulated& state,
                                                    const Tiles& tiles, int step, int first_row,
                                                    const Role& role, float scale) {
  const int first_key = tiles.first_key(step) + role.share * kKeys;
  mask_if_needed(scores, first_key, first_row, tiles.kv_len, role);
  return raise_maxima(state, scores, scale);
}

__device__ __forceinline__ void attend_tiles(Accumulated& state, const Ring& ring,
                                             const Tiles& tiles, int first_row, const Role& role,
                                             int thread, float scale) {
#pragma unroll 1
  for (int step = 0; step < tiles.count; ++step) {
    Scores scores;
    ring.acquire_k(tiles, step, role, thread);
    start_scores(scores, tiles, step, role);
    ring.unpack(tiles, step, role, thread);
    ptx::wait_products<0>(scores.at[0]);
    ring.release_k(step, role);
    rescale(state, mask_and_raise(scores, state, tiles, step, first_row, role, scale));
    Probabilities p;
#pragma unroll
    for (int n = 0; n < kStepTiles; n += 2) {
      exponentiate_pair(scores, state, n, scale);
      pack_pair(p, scores, n);
    }
    ring.acquire_v(tiles, step, role, thread);
    start_values(state, p, tiles, step, role);
    wait_values(state);
    ring.release_v(step, role);
  }
}

/// The same with P V of a step in flight while the next scores are computed and exponentiated.
__device__ __forceinline__ void attend_tiles_overlapped(Accumulated& state, const Ring& ring,
                                                        const Tiles& tiles, int first_row,
                                                        const Role& role, int thread, float scale) {
  Probabilities p;
#pragma unroll 1
  for (int step = 0; step < tiles.count; ++step) {
    Scores scores;
    ring.acquire_k(tiles, step, role, thread);
    start_scores(scores, tiles, step, role);
    if (step > 0) {
      ring.acquire_v(tiles, step - 1, role, thread);
      start_values(state, p, tiles, step - 1, role);
      ptx::wait_products<1>(scores.at[0]);
    } else {
      ptx::wait_products<0>(scores.at[0]);
    }
    ring.release_k(step, role);
    const Rescaling rescaling =
        mask_and_raise(scores, state, tiles, step, first_row, role, scale);
#pragma unroll
    for (int n = 0; n < kStepTiles; n += 2) exponentiate_pair(scores, state, n, scale);
    wait_values(state);
    if (step > 0) ring.release_v(step - 1, role);
    rescale(state, rescaling);
#pragma unroll
    for (int n = 0; n < kStepTiles; n += 2) pack_pair(p, scores, n);
  }
  if (tiles.count > 0) {
    ring.acquire_v(tiles, tiles.count - 1, role, thread);
    start_values(state, p, tiles, tiles.count - 1, role);
    wait_values(state);
    ring.release_v(tiles.count - 1, role);
  }
}

/// Warpgroups that compute: one work item, from its queries to its rows of O.
__device__ __forceinline__ void consume(const Problem& problem, const Item& item, const Ring& ring,
                                        const Tiles& tiles, int thread) {
  const Role role = role_of(thread);
  const u8* q = problem.q + static_cast<u64>(item.head) * problem.q_len * HEAD_DIM;
  copy_rows<kTileM, kConsumers>(tiles.shared, q + item.first_row * HEAD_DIM,
                                problem.q_len - item.first_row, thread);
  ptx::commit_copies();
  ring.start(tiles, role, thread);
  const Scales scales = scales_of(problem, item);
  if constexpr (kSumByMma) {
    const u32 kOne = 0x3C003C00u;  // a pair of f16
    if (thread < kOnesBytes / kChunkBytes) {
      ptx::store_shared(tiles.shared + kOnes + thread * kChunkBytes, {{kOne, kOne, kOne, kOne}});
    }
  }
  ptx::fence_for_products();
  sync_consumers();  // Q and the ones are visible
  Accumulated state;
  clear(state);
  const int first_row = item.first_row + role.row;
  if constexpr (OVERLAP) {
    attend_tiles_overlapped(state, ring, tiles, first_row, role, thread, scales.score);
  } else {
    attend_tiles(state, ring, tiles, first_row, role, thread, scales.score);
  }
  finish_sums(state);
  if constexpr (kShares > 1) merge_shares(state, tiles.shared, role, scales.score);
#if SPLIT_KV > 1
  if (!merge_parts(state, problem, item, tiles.shared, role, thread, scales.score)) return;
#endif
  write_rows(state, problem, item, role, scales.score, scales.value);
}

/// Grid: x is the line (tile of queries times SPLIT_KV) and y the head, exchanged when CAUSAL.
/// `queue`: zeros, and zeros again afterwards.
extern "C" __global__ void __launch_bounds__(kThreads, MIN_CTAS)
    sdpa_fp8_wgmma(const u8* q, const u8* k, const u8* v, u16* o, float* lse, const float* q_scale,
                   const float* k_scale, const float* v_scale, float softmax_scale, int q_len,
                   int kv_len, int batch_heads, int heads_per_kv, int scale_per_head, int write_lse,
                   u32* queue, float* partials) {
  extern __shared__ __align__(1024) u8 pool[];
  const u32 shared = ptx::shared_address(pool);
  const int thread = static_cast<int>(threadIdx.x);
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
  const int head = static_cast<int>(kCausal ? blockIdx.x : blockIdx.y);
  const int line = static_cast<int>(kCausal ? blockIdx.y : blockIdx.x);
  const Item item = item_of(problem, head, line);
  const u64 kv = static_cast<u64>(item.kv_head) * kv_len * HEAD_DIM;
  const Tiles tiles = {shared, k + kv, v + kv, item.first_tile, item.tiles, kv_len};
#if PRODUCER_GROUP
  const Ring ring = {shared + kBarriers};
  ring.init(thread);
  if (thread >= kConsumers) {
    ptx::set_registers<kProducerRegisters, false>();
    ring.produce(tiles, thread - kConsumers);
  } else {
    ptx::set_registers<kConsumerRegisters, true>();
    consume(problem, item, ring, tiles, thread);
  }
#else
  consume(problem, item, Ring(), tiles, thread);
#endif
}
