// cp.async (sm_80): copies from global to shared memory that do not pass through registers.
#pragma once

#include "common/types.cuh"

namespace ptx {

/// Returns a 32-bit shared address by a builtin, which lets the compiler fold constant offsets.
__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

/// Starts copying 16 bytes, bypassing L1. If `valid` is false, fills the destination with zeros and
/// reads nothing, whatever `source` is.
__device__ __forceinline__ void copy_async(u32 shared, const void* source, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(source),
               "r"(valid ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copy_async(void* shared, const void* source, bool valid) {
  copy_async(shared_address(shared), source, valid);
}

/// Makes a group of the copies that this thread has started since its last group; may be empty.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until this thread's groups of copies, except the latest `kPending`, are complete. Other
/// threads see the copied data only after a barrier.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace ptx
