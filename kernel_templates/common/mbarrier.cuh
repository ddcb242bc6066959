// mbarrier (sm_80): a phase completes after `count` arrivals; threads wait for the phase's parity.
#pragma once

#include "common/types.cuh"

namespace ptx {

/// Initialises an mbarrier; one thread calls this before a barrier of the CTA.
__device__ __forceinline__ void mbarrier_init(u32 barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(u32 barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier)
               : "memory");
}

/// Makes one of the `count` arrivals: the hardware arrives for this thread when all cp.async that
/// the thread has issued so far are complete.
__device__ __forceinline__ void mbarrier_arrive_after_copies(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// Returns true if the phase of this parity is complete. The writes before its arrivals are
/// then visible.
__device__ __forceinline__ bool mbarrier_completed(u32 barrier, int parity) {
  u32 done;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#endif
  return done != 0;
}

__device__ __forceinline__ void mbarrier_wait(u32 barrier, int parity) {
  while (!mbarrier_completed(barrier, parity)) {
  }
}

}  // namespace ptx
