// The mbarriers of a ring that producers fill ahead of the consumers. Include mma_config.cuh
// or wgmma_config.cuh before this file, because problem.cuh needs one of them.
#pragma once

#include "common/mbarrier.cuh"
#include "common/sync.cuh"
#include "problem.cuh"

/// Each slot has two mbarriers: producers' writes arrive on `full`, and every consumer warp arrives
/// on `empty`. `n`: index of the tile among all tiles of this CTA, in the order of use.
struct RingBarriers {
  u32 barriers;  ///< shared address: full K, full V, empty K, empty V

  __device__ __forceinline__ u32 full_k(int n) const { return barriers + 8 * (n % STAGES_K); }
  __device__ __forceinline__ u32 full_v(int n) const {
    return barriers + 8 * (STAGES_K + n % STAGES_V);
  }
  __device__ __forceinline__ u32 empty_k(int n) const {
    return full_k(n) + 8 * (STAGES_K + STAGES_V);
  }
  __device__ __forceinline__ u32 empty_v(int n) const {
    return full_v(n) + 8 * (STAGES_K + STAGES_V);
  }
  /// Initialises the mbarriers; all threads of the CTA call this. `fillers` arrivals complete a
  /// phase of `full`, `warps` arrivals a phase of `empty`.
  __device__ __forceinline__ void init(int thread, int fillers, int warps) const {
    if (thread == 0) {
      for (int i = 0; i < STAGES_K + STAGES_V; ++i) {
        ptx::mbarrier_init(barriers + 8 * i, fillers);
        ptx::mbarrier_init(barriers + 8 * (STAGES_K + STAGES_V + i), warps);
      }
    }
    ptx::sync_cta();
  }
  /// Called by consumer warps when they have read K, or V, of tile `n`.
  __device__ __forceinline__ void arrive_empty_k(int n, const Role& role) const {
    ptx::sync_warp();
    if (role.lane == 0) ptx::mbarrier_arrive(empty_k(n));
  }
  __device__ __forceinline__ void arrive_empty_v(int n, const Role& role) const {
    ptx::sync_warp();
    if (role.lane == 0) ptx::mbarrier_arrive(empty_v(n));
  }
};
