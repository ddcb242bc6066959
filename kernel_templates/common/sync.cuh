// Barriers, programmatic dependent launch, warp collectives, and the atomics of a work queue.
#pragma once

#include "common/types.cuh"

namespace ptx {

__device__ __forceinline__ void sync_warp() { asm volatile("bar.warp.sync -1;" ::: "memory"); }

/// A barrier of all threads of the CTA.
__device__ __forceinline__ void sync_cta() { asm volatile("bar.sync 0;" ::: "memory"); }

/// Named barrier `id` (1 to 15): waits until `threads` threads (a multiple of 32) have arrived.
__device__ __forceinline__ void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives at a named barrier without waiting; earlier accesses of this thread are ordered before
/// the barrier.
__device__ __forceinline__ void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Lets the next kernel in the stream start (programmatic dependent launch, sm_90). The next kernel
/// must call wait_for_previous_kernel() before it accesses global memory.
__device__ __forceinline__ void allow_next_kernel() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// Waits until the previous kernel in the stream has ended and its writes are visible.
__device__ __forceinline__ void wait_for_previous_kernel() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ __forceinline__ float shuffle_xor(float value, int mask) {
  float other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=f"(other) : "f"(value), "r"(mask));
  return other;
}

/// Returns lane 0's `value`; the compiler knows that the result is uniform over the warp.
__device__ __forceinline__ int uniform(int value) {
  int result;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, -1;" : "=r"(result) : "r"(value));
  return result;
}

/// Returns true in every lane if `predicate` is true in any lane.
__device__ __forceinline__ bool any_lane(bool predicate) {
  u32 result;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; "
      "}"
      : "=r"(result)
      : "r"(predicate ? 1u : 0u));
  return result != 0;
}

/// A relaxed addition of device scope; returns the old value.
__device__ __forceinline__ u32 atomic_add(u32* address, u32 value) {
  u32 old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(value)
               : "memory");
  return old;
}

/// An atomic addition of device scope with acquire and release. A later caller for this `address`
/// also sees the writes and atomics that this thread has performed or seen before.
__device__ __forceinline__ u32 atomic_add_ordered(u32* address, u32 value) {
  u32 old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(value)
               : "memory");
  return old;
}

__device__ __forceinline__ void atomic_store(u32* address, u32 value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

}  // namespace ptx
