// Tiles of K and V in shared memory, and the rings that hold them.
#pragma once

#include "common/mbarrier.cuh"
#include "common/memory.cuh"
#include "common/sync.cuh"
#include "copy_rows.cuh"
#include "mma_config.cuh"
#include "problem.cuh"
#include "ring_barriers.cuh"

__device__ __forceinline__ Role role_of(int thread) {
  const int warp = thread / kWarp;
  const int lane = thread % kWarp;
  return {lane / 4, lane % 4, lane, warp / WARPS_M, warp % WARPS_M * WARP_M};
}

/// A barrier of the warps that compute.
__device__ __forceinline__ void sync_consumers() {
  if constexpr (PRODUCER_WARPS > 0) {
    ptx::named_sync(1, kConsumers);
  } else {
    ptx::sync_cta();
  }
}

/// The tiles of keys of one work item, numbered (`step`) in the order of use: from the last one
/// down, so that tiles that need a mask come first. `shared`: the start of the shared memory.
struct Tiles {
  u32 shared;
  const u8* k;  ///< row 0 of the head
  const u8* v;
  int first;
  int count;
  int kv_len;

  __device__ __forceinline__ int first_key(int step) const {
    return (first + count - 1 - step) * TILE_N;
  }
  /// `slot`: index of a slot of the ring.
  __device__ __forceinline__ void copy_k(int step, int slot, int copier) const {
    const int key = first_key(step);
    copy_rows<TILE_N, kCopiers>(shared + kKRing + slot * kSlotBytes, k + key * HEAD_DIM,
                                kv_len - key, copier);
  }
  __device__ __forceinline__ void copy_v(int step, int slot, int copier) const {
    const int key = first_key(step);
    copy_rows<TILE_N, kCopiers>(shared + kVRing + slot * kSlotBytes, v + key * HEAD_DIM,
                                kv_len - key, copier);
  }
};

/// A ring without producers: every warp copies, and waits for its own groups of copies.
///
/// If STAGES_V > 1, K of a tile and V of this or an earlier tile are one group of copies. With
/// STAGES_V 1, V is copied when all warps have finished with the previous V, and K of a later tile
/// as a second group. Empty groups are committed, too, because wait_copies() counts groups.
struct SharedRing {
  /// Number of tiles of V in flight. If pipelined, V of the previous tile is still in use when K of
  /// a tile is acquired.
  static constexpr int kVAhead = STAGES_V - 1 - (kPipelined ? 1 : 0);
  static constexpr bool kVLate = STAGES_V == 1;  ///< V arrives while the scores are computed
  static constexpr bool kKLate = STAGES_K == 1;  ///< K arrives while P V is computed

  __device__ __forceinline__ void start(const Tiles& tiles, int thread) const {
    constexpr int kAhead = kKLate ? 1 : STAGES_K - 1;
#pragma unroll
    for (int step = 0; step < kAhead; ++step) {
      if constexpr (kVLate && !kKLate) ptx::commit_copies();
      if (step < tiles.count) {
        tiles.copy_k(step, step, thread);
        if (step < kVAhead) tiles.copy_v(step, step, thread);
      }
      ptx::commit_copies();
    }
  }
  /// Returns when every warp can read K of the step and, if STAGES_V > 1, V of this step or, if
  /// pipelined, V of the previous step.
  __device__ __forceinline__ void acquire_k(const Tiles& tiles, int step, int thread) const {
    if constexpr (kKLate) {
      ptx::wait_copies<0>();
    } else {
      ptx::wait_copies<kVLate ? 2 * max_of(STAGES_K - 2, 0) : max_of(STAGES_V - 2, 0)>();
    }
    ptx::sync_cta();  // the tile is visible, and the slots of the previous tile are free
    const int k_step = step + STAGES_K - 1;
    const int v_step = step + kVAhead;
    if (v_step < tiles.count) tiles.copy_v(v_step, v_step % STAGES_V, thread);
    if constexpr (kVLate) ptx::commit_copies();
    if constexpr (!kKLate) {
      if (k_step < tiles.count) tiles.copy_k(k_step, k_step % STAGES_K, thread);
      ptx::commit_copies();
    }
  }
  __device__ __forceinline__ void acquire_v(const Tiles& tiles, int step, int thread) const {
    if constexpr (kVLate) {
      ptx::wait_copies<kKLate ? 0 : 1>();
      ptx::sync_cta();
    }
    if constexpr (kKLate) {
      if (step + 1 < tiles.count) tiles.copy_k(step + 1, 0, thread);
      ptx::commit_copies();
    }
  }
  __device__ __forceinline__ void release_k(int /*step*/, const Role& /*role*/) const {}
  __device__ __forceinline__ void release_v(int /*step*/, const Role& /*role*/) const {}
  __device__ __forceinline__ int slot_k(int step) const { return step % STAGES_K; }
  __device__ __forceinline__ int slot_v(int step) const { return step % STAGES_V; }
};

/// A ring that producer warps fill ahead of the consumers. The copies arrive on the mbarriers
/// `full`. `used`: number of tiles that passed through the ring before this work item.
struct ProducedRing : RingBarriers {
  int used;

  __device__ __forceinline__ void init(int thread) const {
    RingBarriers::init(thread, kProducers, WARPS_M * WARPS_KV);
  }
  /// Called by producers: copies all tiles of a work item.
  __device__ __forceinline__ void produce(const Tiles& tiles, int copier) const {
#pragma unroll 1
    for (int step = 0; step < tiles.count; ++step) {
      const int n = used + step;
      if (n >= STAGES_K) ptx::mbarrier_wait(empty_k(n), (n / STAGES_K - 1) & 1);
      tiles.copy_k(step, n % STAGES_K, copier);
      ptx::mbarrier_arrive_after_copies(full_k(n));
      if (n >= STAGES_V) ptx::mbarrier_wait(empty_v(n), (n / STAGES_V - 1) & 1);
      tiles.copy_v(step, n % STAGES_V, copier);
      ptx::mbarrier_arrive_after_copies(full_v(n));
    }
  }
  __device__ __forceinline__ void start(const Tiles& /*tiles*/, int /*thread*/) const {}
  __device__ __forceinline__ void acquire_k(const Tiles& /*tiles*/, int step,
                                            int /*thread*/) const {
    ptx::mbarrier_wait(full_k(used + step), (used + step) / STAGES_K & 1);
  }
  __device__ __forceinline__ void acquire_v(const Tiles& /*tiles*/, int step,
                                            int /*thread*/) const {
    ptx::mbarrier_wait(full_v(used + step), (used + step) / STAGES_V & 1);
  }
  __device__ __forceinline__ void release_k(int step, const Role& role) const {
    arrive_empty_k(used + step, role);
  }
  __device__ __forceinline__ void release_v(int step, const Role& role) const {
    arrive_empty_v(used + step, role);
  }
  __device__ __forceinline__ int slot_k(int step) const { return (used + step) % STAGES_K; }
  __device__ __forceinline__ int slot_v(int step) const { return (used + step) % STAGES_V; }
};
