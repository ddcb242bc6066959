// FP8 attention forward by wgmma, for Hopper (sm_90a). Result and arguments are those of mma.cu.
//
// A warpgroup processes 64 queries and TILE_N / GROUPS_KV keys of every tile of TILE_N keys, in
// steps of STEP_N keys:
//
//   1. scores = Q K^T           e4m3 as it is, both operands from shared memory
//   2. mask                     only where a tile reaches beyond the last key or the diagonal
//   3. running maximum          the sums of earlier steps are rescaled
//   4. P = 2^(scores - maximum)
//   5. O += P V                 P from registers; V was unpacked to f16 or, in e4m3, transposed
//
// Exponentials by MUFU are the bottleneck: 16 per clock and SM, so several warpgroups per SM
// alternate, and OVERLAP starts the scores of the next step before the exponentials of this step.

#include "wgmma_config.cuh"

#include "wgmma_products.cuh"
#include "wgmma_tiles.cuh"

#include "merge.cuh"
#include "online_softmax.cuh"

#if PRODUCER_GROUP
using Ring = ProducedRing;
#else
using Ring = SharedRing;
#endif

/// Step 4: replaces all scores of a step by P.
__device__ __forceinline__ void exponentiate(Scores& scores, Accumulated& state, float scale) {
#pragma unroll
  for (int n = 0; n < kStepTiles; n += 2) exponentiate_pair(scores, state, n, scale);
}

__device__ __forceinline__ void pack(Probabilities& p, const Scores& scores) {
#pragma unroll
  for (int n = 0; n < kStepTiles; n += 2) pack_pair(p, scores, n);
}

__device__ __forceinline__ int group_of(const Role& role) {
  return role.share * GROUPS_M + role.row / 64;
}

/// With TURNS, warpgroups start the products of a step in turn. Named barrier kFirstTurn + i lets
/// group i start; the previous group arrives at this barrier when it has issued its products.
constexpr int kFirstTurn = 6;

__device__ __forceinline__ void pass_turn(int group) {
  ptx::named_arrive(kFirstTurn + (group + 1) % kConsumerGroups, 2 * kGroup);
}
__device__ __forceinline__ void take_turn(int group) {
  ptx::named_sync(kFirstTurn + group, 2 * kGroup);
}

/// The common data of a warpgroup's loop over the keys.
struct Walk {
  const Ring& ring;
  const Tiles& tiles;
  const Role& role;
  int thread;
  int first_row;  ///< the warp's first row
  float scale;

  __device__ __forceinline__ int group() const { return group_of(role); }
  /// How many tiles reach beyond the last key or the diagonal; the loop visits these tiles first.
  __device__ __forceinline__ int masked_tiles() const {
    const int group_row = first_row - role.row % 64;
    const int safe_keys = kCausal ? min(tiles.kv_len, group_row + 1) : tiles.kv_len;
    return tiles.first + tiles.count - safe_keys / TILE_N;
  }
};

__device__ __forceinline__ void attend_tiles(Accumulated& state, const Walk& walk) {
  const Ring& ring = walk.ring;
  const Tiles& tiles = walk.tiles;
#pragma unroll 1
  for (int tile = 0; tile < tiles.count; ++tile) {
    ring.acquire_k(tiles, tiles.number(tile), walk.role, walk.thread);
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      const Place at = place_of(tile, step, walk.role);
      Scores scores;
      start_scores(scores, tiles, at, walk.role);
      if (step == 0) ring.unpack(tiles, tile, walk.role, walk.thread);
      ptx::wait_products<0>(scores.at[0]);
      if (step == kSteps - 1) ring.release_k(tiles.number(tile), walk.role);
      mask_if_needed(scores, tiles.first_key(tile) + at.key, walk.first_row, tiles.kv_len,
                     walk.role);
      rescale(state, raise_maxima(state, scores, walk.scale));
      exponentiate(scores, state, walk.scale);
      Probabilities p;
      pack(p, scores);
      if (step == 0) ring.acquire_v(tiles, tiles.number(tile), walk.role, walk.thread);
      start_values(state, p, tiles, at);
      wait_values(state);
    }
    ring.release_v(tiles.number(tile), walk.role);
  }
}

/// Turns the scores of a step into P while P V of the previous step is in flight.
__device__ __forceinline__ void finish_step(Accumulated& state, Probabilities& p, Scores& scores,
                                            const Walk& walk) {
  const Rescaling rescaling = raise_maxima(state, scores, walk.scale);
  exponentiate(scores, state, walk.scale);
  wait_values(state);
  rescale(state, rescaling);
  pack(p, scores);
}

/// Like finish_step(), but tries the maxima of earlier steps first, and raises them only if P would
/// overflow. The product P V of `p` is in flight. The branch of the loop keeps the compiler from
/// waiting for P V before the exponentials.
__device__ __forceinline__ void finish_optimistic(Accumulated& state, Probabilities& p,
                                                  Probabilities& next, const Scores& scores,
                                                  const Walk& walk) {
  float sum[kBlocks][2];
  Rescaling rescaling;
  rescaling.needed = false;
  bool raised = false;
#pragma unroll 1
  while (overflows(next, sum, scores, state, walk.scale) && !raised) {
    rescaling = raise_maxima(state, scores, walk.scale);
    raised = true;  // a NaN would overflow for ever
  }
  if constexpr (!kSumByMma) {
    state.sum[0][0] += sum[0][0];
    state.sum[0][2] += sum[0][1];
  }
  wait_values(state);
  keep_here(p);  // P V has read `p` until now
  rescale(state, rescaling);
}

/// P of the step in flight. With OVERLAP_OPTIMISTIC, P alternates between two sets of registers:
/// from step to step if a tile has several, otherwise between the two tiles of a pair. Moving P
/// from one set to the other takes time or makes ptxas serialise the products (its note C7513).
struct Flight {
  Probabilities at[OVERLAP == OVERLAP_OPTIMISTIC ? 2 : 1];
  static constexpr bool kAlternates = OVERLAP == OVERLAP_OPTIMISTIC && kSteps > 1;
  static constexpr bool kPairs = OVERLAP == OVERLAP_OPTIMISTIC && kSteps == 1;

  /// `step`: index of the step in the tile. `half`: 1 for the second tile of a pair.
  __device__ __forceinline__ Probabilities& of(int step, int half = 0) {
    return at[kAlternates ? step % 2 : half];
  }
};

/// Processes the steps of a tile after the first, and the first step of the next tile, while P V of
/// the previous step is in flight. A branch would make the compiler wait for P V, so tiles that may
/// need a mask have separate code. kPair: the tile is the first (0) or second (1) of a pair, or
/// alone (-1).
template <bool kMasked, int kPair>
__device__ __forceinline__ void advance(Accumulated& state, Flight& flight, Place& at,
                                        const Walk& walk, int tile) {
  const Ring& ring = walk.ring;
  const Tiles& tiles = walk.tiles;
  constexpr int kHalf = kPair == 1;
#pragma unroll
  for (int step = 1; step <= kSteps; ++step) {
    const bool crosses = step == kSteps;
    if (crosses && tile + 1 == tiles.count) break;
    const Place before = at;
    at = crosses ? place_of(tile + 1, 0, walk.role) : place_of(tile, step, walk.role);
    Scores scores;
    if (crosses) ring.acquire_k(tiles, tiles.number(tile + 1), walk.role, walk.thread);
    if (kProduced && step == 1) ring.acquire_v(tiles, tiles.number(tile), walk.role, walk.thread);
    if constexpr (TURNS != 0) take_turn(walk.group());
    start_scores(scores, tiles, at, walk.role);
    // Without producers and with one step per tile, acquire_k() has also waited for V.
    if (!kProduced && step == 1 && kSteps > 1) {
      ring.acquire_v(tiles, tiles.number(tile), walk.role, walk.thread);
    }
    start_values(state, flight.of(step - 1, kHalf), tiles, before);
    if constexpr (TURNS != 0) pass_turn(walk.group());
    if (crosses) ring.unpack(tiles, tile + 1, walk.role, walk.thread);
    ptx::wait_products<1>(scores.at[0]);
    if (kSteps == 1 || step == kSteps - 1) ring.release_k(tiles.number(at.tile), walk.role);
    if constexpr (kMasked) {
      mask_if_needed(scores, tiles.first_key(at.tile) + at.key, walk.first_row, tiles.kv_len,
                     walk.role);
    }
    if constexpr (OVERLAP == OVERLAP_OPTIMISTIC) {
      finish_optimistic(state, flight.of(step - 1, kHalf), flight.of(step, 1 - kHalf), scores, walk);
      if (!Flight::kAlternates && kPair < 0) flight.at[0] = flight.at[1];
    } else {
      finish_step(state, flight.at[0], scores, walk);
    }
    if (crosses) ring.release_v(tiles.number(tile), walk.role);
  }
}

/// Like attend_tiles(), with P V of a step in flight while the next scores are computed.
__device__ __forceinline__ void attend_tiles_overlapped(Accumulated& state, const Walk& walk) {
  const Ring& ring = walk.ring;
  const Tiles& tiles = walk.tiles;
  if (tiles.count == 0) return;
  Flight flight;
  Place at = place_of(0, 0, walk.role);
  {
    Scores scores;
    ring.acquire_k(tiles, tiles.number(0), walk.role, walk.thread);
    start_scores(scores, tiles, at, walk.role);
    ring.unpack(tiles, 0, walk.role, walk.thread);
    ptx::wait_products<0>(scores.at[0]);
    if (kSteps == 1) ring.release_k(tiles.number(0), walk.role);
    mask_if_needed(scores, tiles.first_key(0) + at.key, walk.first_row, tiles.kv_len, walk.role);
    (void)raise_maxima(state, scores, walk.scale);  // O is zero: nothing to rescale
    exponentiate(scores, state, walk.scale);
    pack(flight.of(0), scores);
  }
  const int masked = min(walk.masked_tiles(), tiles.count);
  int tile = 0;
#pragma unroll 1
  for (; tile < masked; ++tile) advance<true, -1>(state, flight, at, walk, tile);
  if constexpr (Flight::kPairs) {
#pragma unroll 1
    for (; tile + 2 < tiles.count; tile += 2) {
      advance<false, 0>(state, flight, at, walk, tile);
      advance<false, 1>(state, flight, at, walk, tile + 1);
    }
  }
#pragma unroll 1
  for (; tile < tiles.count; ++tile) advance<false, -1>(state, flight, at, walk, tile);
  if (kSteps == 1) ring.acquire_v(tiles, tiles.number(tiles.count - 1), walk.role, walk.thread);
  start_values(state, flight.of(kSteps - 1), tiles, at);
  wait_values(state);
  ring.release_v(tiles.number(tiles.count - 1), walk.role);
}

/// Writes the ones whose products with P are the row sums.
__device__ __forceinline__ void write_ones(u32 shared, int thread) {
  const u32 kOne = kPvFp8 ? 0x38383838u : 0x3C003C00u;
  constexpr int kPanels = kPvFp8 ? STAGES_V * TILE_N / kPanelKeys : 1;
  constexpr int kChunks = (kPvFp8 ? 8 * kPanelKeys : 16 * 128) / kChunkBytes;
#pragma unroll
  for (int first = 0; first < kPanels * kChunks; first += kConsumers) {
    const int i = first + thread;
    if (i >= kPanels * kChunks) return;
    const int place = i / kChunks * kPanelBytes + i % kChunks * kChunkBytes;
    ptx::store_shared(shared + kOnes + place, {{kOne, kOne, kOne, kOne}});
  }
}

/// The inputs of a work item that its consumers load themselves: Q and descale factors.
struct Queries {
  Descales descales;

  /// Starts loading the inputs of the first work item; all consumers call this.
  __device__ __forceinline__ void load_first(const Problem& problem, const Item& item, u32 shared,
                                             int thread) {
    const u64 first_row = static_cast<u64>(item.head) * problem.q_len + item.first_row;
    copy_rows<kTileM, kConsumers>(shared, problem.q + first_row * HEAD_DIM,
                                  problem.q_len - item.first_row, thread);
    ptx::commit_copies();
    descales = load_descales(problem, item);
  }
  /// Starts loading the inputs of the next item, if there is one, when the warpgroup has read Q of
  /// this item.
  __device__ __forceinline__ void load_next(const Schedule& schedule, int thread) {
    Item next;
    if (!schedule.peek(next)) return;
    const Problem& problem = schedule.problem;
    const int group_row = thread / kGroup * 64;
    const int row = next.first_row + group_row;
    ptx::named_sync(2 + thread / kGroup, kGroup);
    copy_rows<64, kGroup>(
        schedule.tiles.shared + group_row * kRowBytes,
        problem.q + (static_cast<u64>(next.head) * problem.q_len + row) * HEAD_DIM,
        problem.q_len - row, thread % kGroup);
    ptx::commit_copies();
    descales = load_descales(problem, next);
  }
  /// Returns when Q of the item that load_next() started can be read.
  __device__ __forceinline__ void acquire_next(int thread) const {
    ptx::wait_copies<0>();
    ptx::fence_for_products();
    ptx::named_sync(2 + thread / kGroup, kGroup);
  }
};

/// Called by the warpgroups that compute: processes one work item, from its queries to its rows of
/// O.
__device__ __forceinline__ void consume(Queries& queries, const Schedule& schedule,
                                        const Ring& ring, const Role& role, int thread) {
  const Problem& problem = schedule.problem;
  const Item& item = schedule.item;
  const Tiles& tiles = schedule.tiles;
  if (PERSISTENT_CTA && schedule.round > 0) queries.acquire_next(thread);
  const Scales scales = scales_of(problem, queries.descales);
  Accumulated state;
  clear(state);
  if constexpr (kDrains) ptx::keep_here(state.step_sum);
  const Walk walk = {ring, tiles, role, thread, item.first_row + role.row, scales.score};
  if constexpr (kOverlap) {
    attend_tiles_overlapped(state, walk);
  } else {
    attend_tiles(state, walk);
  }
  if constexpr (PERSISTENT_CTA != 0) queries.load_next(schedule, thread);
  finish_sums(state);
  if constexpr (kShares > 1) merge_shares(state, tiles.shared, role, scales.score);
#if SPLIT_KV > 1
  if (!merge_parts(state, problem, item, tiles.shared, role, thread, scales.score)) return;
#endif
  write_rows(state, problem, item, role, scales.score, scales.value);
}

/// Grid: x is SPLIT_KV times the tile of queries, plus the part of the keys; y is the head. If
/// CAUSAL, x and y are swapped. With PERSISTENT_CTA, the grid has at most one CTA per work item,
/// along x. `queue` is zero before and after the launch.
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
#if PDL
  ptx::allow_next_kernel();
#endif
#if PRODUCER_GROUP
  const Ring ring = {shared + kBarriers};
  ring.init(thread);
#else
  const Ring ring;
#endif
#if PDL
  ptx::wait_for_previous_kernel();
#endif
  Schedule schedule(problem, shared);
  if (thread >= kConsumers) {
#if PRODUCER_GROUP
    ptx::set_registers<kProducerRegisters, false>();
    ring.produce(schedule, thread - kConsumers);
#endif
    return;
  }
  if constexpr (kProduced) ptx::set_registers<kConsumerRegisters, true>();
  const Role role = role_of(thread);
  Queries queries;
  queries.load_first(problem, schedule.item, shared, thread);
  ring.start(schedule.tiles, role, thread);
  if constexpr (kSumByMma) write_ones(shared, thread);
  ptx::fence_for_products();
  sync_consumers();  // makes Q and the ones visible
  const int group = group_of(role);
  if (TURNS != 0 && group == kConsumerGroups - 1) pass_turn(group);
#pragma unroll 1
  for (; schedule.valid(); schedule.advance()) {
    consume(queries, schedule, ring, role, thread);
  }
  if (TURNS != 0 && group == 0) take_turn(0);  // consumes the last group's last arrival
}
