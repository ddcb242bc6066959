// Tiles of K and V in shared memory for wgmma, their rings, and the work items of a CTA.
//
// K is used as e4m3. The thread that copied V unpacks it to f16, or the warp that copied it
// transposes it. Only this thread or warp uses the memory of the copied bytes, so the unpacking
// needs no barrier across warps. The even columns of each 16 of V precede the odd ones, so that a
// lane has four adjacent columns of O.
#pragma once

#include "common/convert.cuh"
#include "common/mbarrier.cuh"
#include "common/memory.cuh"
#include "common/sync.cuh"
#include "common/wgmma.cuh"
#include "copy_rows.cuh"
#include "problem.cuh"
#include "ring_barriers.cuh"
#include "wgmma_config.cuh"
#include "wgmma_transpose.cuh"

__device__ __forceinline__ Role role_of(int thread) {
  // With uniform(), the compiler knows that descriptors are uniform over the warp.
  const int warp = ptx::uniform(thread / kWarp);
  const int group = warp / 4;
  const int lane = thread % kWarp;
  return {lane / 4, lane % 4, lane, group / GROUPS_M, group % GROUPS_M * 64 + warp % 4 * 16};
}

/// A barrier of the warpgroups that compute.
__device__ __forceinline__ void sync_consumers() { ptx::named_sync(1, kConsumers); }

/// A barrier of the warpgroups that share keys and, without producers, copy them.
__device__ __forceinline__ void sync_share(int share) {
  ptx::named_sync(2 + share, kGroup * GROUPS_M);
}

/// Unpacks every second of 16 e4m3: the even or the odd bytes, as `selector` says.
__device__ __forceinline__ Chunk unpack_columns(const Chunk& bytes, u32 selector) {
  const HalfChunk low =
      f16x4_from_e4m3x4(ptx::permute_bytes(bytes.word[0], bytes.word[1], selector));
  const HalfChunk high =
      f16x4_from_e4m3x4(ptx::permute_bytes(bytes.word[2], bytes.word[3], selector));
  return {{low.word[0], low.word[1], high.word[0], high.word[1]}};
}

/// The tiles of keys of one work item, numbered (`step`) in the order of use: from the last one
/// down, so that tiles that need a mask come first. `shared`: the start of the shared memory.
/// number() counts the tiles of all work items; ring slots and mbarrier phases depend on it.
/// `copier`: index of a thread among the kCopiers that copy kCopiedKeys rows, the first of which is
/// row `first_row` of the tile.
struct Tiles {
  u32 shared;
  const u8* k;  ///< row 0 of the head
  const u8* v;
  int first;
  int count;
  int kv_len;
  int used;  ///< number of tiles of the CTA's earlier work items

  __device__ __forceinline__ int number(int step) const {
    return PERSISTENT_CTA ? used + step : step;
  }
  __device__ __forceinline__ int first_key(int step) const {
    return (first + count - 1 - step) * TILE_N;
  }
  /// Starts copying K of tile `step`.
  __device__ __forceinline__ void copy_k(int step, int first_row, int copier) const {
    const int key = first_key(step) + first_row;
    copy_rows<kCopiedKeys, kCopiers>(
        shared + kKRing + number(step) % STAGES_K * kSlotBytes + first_row * kRowBytes,
        k + static_cast<long long>(key) * HEAD_DIM, kv_len - key, copier);
  }
  /// Starts copying the bytes of V of tile `step`.
  __device__ __forceinline__ void copy_v(int step, int first_row, int copier) const {
    const u32 to =
        shared + kVBytes + number(step) % STAGES_K * kSlotBytes + first_row * kRowBytes;
    const int key = first_key(step) + first_row;
    const u8* source = v + static_cast<long long>(key) * HEAD_DIM;
    if constexpr (kPvFp8) {
      copy_blocks(to, source, kv_len - key, copier);
    } else {
      for_own_chunks(copier, [&](int place, int row) {
        ptx::copy_async(to + place, source + place, row < kv_len - key);
      });
    }
  }
  /// Starts copying K and V, each as a group; also commits empty groups after the last step,
  /// because wait_copies() counts groups.
  __device__ __forceinline__ void copy(int step, int first_row, int copier) const {
    if (step < count) copy_k(step, first_row, copier);
    ptx::commit_copies();
    if (step < count) copy_v(step, first_row, copier);
    ptx::commit_copies();
  }
  /// Unpacks or transposes the bytes of V that this thread or warp copied for tile number `n`.
  __device__ static __forceinline__ void unpack_v(u32 shared, int n, int first_row, int copier) {
    const u32 from = shared + kVBytes + n % STAGES_K * kSlotBytes + first_row * kRowBytes;
    const u32 slot = shared + kVRing + n % STAGES_V * kVSlotBytes;
    if constexpr (kPvFp8) {
      transpose_blocks(slot, first_row, from, copier);
      return;
    }
    const u32 to = slot + first_row * 128;
    for_own_chunks(copier, [&](int place, int row) {
      const Chunk bytes = ptx::load_shared(from + place);
      const int chunk = place / kChunkBytes % kRowChunks;
      const u32 line = to + chunk / 4 * kPanelBytes + row * 128;
      const int column = chunk % 4 * 2;
      ptx::store_shared(line + (column ^ (row & 7)) * kChunkBytes, unpack_columns(bytes, 0x6420));
      ptx::store_shared(line + ((column + 1) ^ (row & 7)) * kChunkBytes,
                        unpack_columns(bytes, 0x7531));
    });
  }

 private:
  /// Calls `use` with the offset and the row of each chunk of a tile that thread `copier` copies.
  template <typename Use>
  __device__ static __forceinline__ void for_own_chunks(int copier, const Use& use) {
    constexpr int kChunks = kCopiedKeys * kRowChunks;
    if (kCopiers > kChunks && copier >= kChunks) return;
#pragma unroll 4
    for (int chunk = 0; chunk < kChunks; chunk += kCopiers) {
      use((chunk + copier) * kChunkBytes, (chunk + copier) / kRowChunks);
    }
  }
};

/// The work items of a CTA, one after the other. With PERSISTENT_CTA, the CTAs take items in
/// rounds, in every second round in reverse order: causal items get shorter, so the CTA with the
/// longest item of a round has the shortest of the next round.
struct Schedule {
  const Problem& problem;
  int round;
  Item item;
  Tiles tiles;

  __device__ __forceinline__ Schedule(const Problem& all, u32 shared) : problem(all), round(0) {
    tiles.shared = shared;
    tiles.used = 0;
    if (valid()) load();
  }
  __device__ __forceinline__ bool valid() const {
    return PERSISTENT_CTA ? index(round) < lines() * problem.batch_heads : round == 0;
  }
  __device__ __forceinline__ void advance() {
    tiles.used += tiles.count;
    ++round;
    if (PERSISTENT_CTA && valid()) load();
  }
  /// Sets `next` to the item after this one; returns false if there is none.
  __device__ __forceinline__ bool peek(Item& next) const {
    const int at = index(round + 1);
    if (at >= lines() * problem.batch_heads) return false;
    next = item_at(at);
    return true;
  }

 private:
  __device__ __forceinline__ int lines() const { return ceil_div(problem.q_len, kTileM); }
  __device__ __forceinline__ int index(int at_round) const {
    const int ctas = static_cast<int>(gridDim.x);
    const int cta = static_cast<int>(blockIdx.x);
    return at_round * ctas + (at_round % 2 == 0 ? cta : ctas - 1 - cta);
  }
  /// Items are numbered head by head or, with CAUSAL, from most to fewest keys.
  __device__ __forceinline__ Item item_at(int at) const {
    const int heads = problem.batch_heads;
    return kCausal ? item_of(problem, at % heads, at / heads)
                   : item_of(problem, at / lines(), at % lines());
  }
  __device__ __forceinline__ void load() {
    if constexpr (PERSISTENT_CTA != 0) {
      item = item_at(index(round));
    } else {
      const int x = static_cast<int>(blockIdx.x);
      const int y = static_cast<int>(blockIdx.y);
      item = kCausal ? item_of(problem, x, y) : item_of(problem, y, x);
    }
    const u64 kv = static_cast<u64>(item.kv_head) * problem.kv_len * HEAD_DIM;
    tiles.k = problem.k + kv;
    tiles.v = problem.v + kv;
    tiles.first = item.first_tile;
    tiles.count = item.tiles;
    tiles.kv_len = problem.kv_len;
  }
};

/// A ring without producers: the warpgroups that share keys copy and unpack them.
struct SharedRing {
  static constexpr int kAhead = STAGES_K > 1 ? STAGES_K - 1 : 1;  ///< tiles in flight

  /// Starts the first copies of K and V. Q, the previous group of copies, is complete on return.
  __device__ __forceinline__ void start(const Tiles& tiles, const Role& role, int thread) const {
#pragma unroll
    for (int step = 0; step < kAhead; ++step) copy(tiles, step, role, thread);
    ptx::wait_copies<2 * kAhead>();
  }
  /// Returns when the warpgroups with the same keys can read K of the step and V of the previous
  /// step.
  __device__ __forceinline__ void acquire_k(const Tiles& /*tiles*/, int /*step*/, const Role& role,
                                            int /*thread*/) const {
    ptx::wait_copies<2 * kAhead - 1>();
    ptx::fence_for_products();
    sync_share(role.share);  // the tile is visible, and the previous tile's memory is free
  }
  /// Called while the scores are computed: starts the copies of a later step, then unpacks V of
  /// this step.
  __device__ __forceinline__ void unpack(const Tiles& tiles, int step, const Role& role,
                                         int thread) const {
    if constexpr (STAGES_K > 1) copy(tiles, step + kAhead, role, thread);
    ptx::wait_copies<(STAGES_K > 1) ? 2 * kAhead : 0>();
    Tiles::unpack_v(tiles.shared, step, role.share * kKeys, thread - role.share * kCopiers);
  }
  /// Returns when all warpgroups with the same keys can read V of the step.
  __device__ __forceinline__ void acquire_v(const Tiles& tiles, int step, const Role& role,
                                            int thread) const {
    // ptxas 12.8 and 12.9 crash on a fence while products are in flight, so it is not in unpack().
    // Only advance() with several steps per tile executes the fence while products are in flight.
    ptx::fence_for_products();
    sync_share(role.share);
    if constexpr (STAGES_K == 1) copy(tiles, step + 1, role, thread);
  }
  __device__ __forceinline__ void release_k(int /*step*/, const Role& /*role*/) const {}
  __device__ __forceinline__ void release_v(int /*step*/, const Role& /*role*/) const {}

 private:
  __device__ static __forceinline__ void copy(const Tiles& tiles, int step, const Role& role,
                                              int thread) {
    tiles.copy(step, role.share * kKeys, thread - role.share * kCopiers);
  }
};

/// A ring that producer warpgroups fill ahead of the consumers; every producer thread arrives on
/// `full`.
struct ProducedRing : RingBarriers {
  static constexpr int kAhead = STAGES_K - 1;

  __device__ __forceinline__ void init(int thread) const {
    RingBarriers::init(thread, kCopiers, kConsumers / kWarp);
  }
  /// Called by producers: copies the tiles of all work items.
  __device__ __forceinline__ void produce(Schedule& schedule, int copier) const {
    const u32 shared = schedule.tiles.shared;
    int copied = 0;  // tiles whose copies have started
    int step = 0;    // index of the next tile in its work item
    const auto copy_next = [&] {
      // Empty groups are committed after the last tile, because wait_copies() counts groups.
      if (!schedule.valid() || step >= schedule.tiles.count) {
        ptx::commit_copies();
        ptx::commit_copies();
        return;
      }
      if (copied >= STAGES_K) ptx::mbarrier_wait(empty_k(copied), (copied / STAGES_K - 1) & 1);
      schedule.tiles.copy(step, 0, copier);
      ++copied;
      if (++step < schedule.tiles.count) return;
      schedule.advance();
      step = 0;
    };
    // If more than one tile is in flight, K of the next tile arrives no later than V of this tile.
    // Consumers need both at once, so producers release that K before they transpose this V.
    constexpr int kEarly = kAhead > 1;
#pragma unroll 1
    for (int n = -kAhead; n < copied; ++n) {
      if (kEarly != 0) copy_next();
      if (n >= -kEarly) {
        ptx::wait_copies<2 * kAhead - 1>();  // K of tile n + kEarly is complete
        ptx::fence_for_products();
        if (n + kEarly < copied) ptx::mbarrier_arrive(full_k(n + kEarly));
      }
      if (n >= 0) {
        if (n >= STAGES_V) ptx::mbarrier_wait(empty_v(n), (n / STAGES_V - 1) & 1);
        if (kEarly == 0) ptx::wait_copies<0>();
        Tiles::unpack_v(shared, n, 0, copier);
        ptx::fence_for_products();
        ptx::mbarrier_arrive(full_v(n));
      }
      if (kEarly == 0) copy_next();
    }
  }
  __device__ __forceinline__ void start(const Tiles& /*tiles*/, const Role& /*role*/,
                                        int /*thread*/) const {
    ptx::wait_copies<0>();
  }
  __device__ __forceinline__ void acquire_k(const Tiles& /*tiles*/, int step, const Role& /*role*/,
                                            int /*thread*/) const {
    ptx::mbarrier_wait(full_k(step), step / STAGES_K & 1);
  }
  __device__ __forceinline__ void unpack(const Tiles& /*tiles*/, int /*step*/, const Role& /*role*/,
                                         int /*thread*/) const {}
  __device__ __forceinline__ void acquire_v(const Tiles& /*tiles*/, int step, const Role& /*role*/,
                                            int /*thread*/) const {
    ptx::mbarrier_wait(full_v(step), step / STAGES_V & 1);
  }
  __device__ __forceinline__ void release_k(int step, const Role& role) const {
    arrive_empty_k(step, role);
  }
  __device__ __forceinline__ void release_v(int step, const Role& role) const {
    arrive_empty_v(step, role);
  }
};
