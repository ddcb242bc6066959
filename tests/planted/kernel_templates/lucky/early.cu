// y = 2 x + 1, by a kernel that may start while the previous kernel runs. BUG selects a defect
// that shows only if a kernel runs before this one. Grid: ceil_div(n, THREADS), block: THREADS.

#if !defined(BUG) || !defined(THREADS)
#error "BUG and THREADS must be defined"
#endif

__device__ void wait_for_grid() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

extern "C" __global__ void early(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
#if BUG == BUG_READS_EARLY
  const float value = i < n ? x[i] : 0.0f;
  wait_for_grid();
#else
#if BUG == BUG_LAST_WARP
  if (threadIdx.x < THREADS - 32) wait_for_grid();
#else
  wait_for_grid();
#endif
  const float value = i < n ? x[i] : 0.0f;
#endif
  if (i < n) y[i] = 2.0f * value + 1.0f;
}
