// y = 2 x + 1. BUG selects a defect that a GPU does not notice, because the results stay right.
// Grid (ceil_div(n, THREADS)), block (THREADS).

#if !defined(BUG) || !defined(THREADS)
#error "BUG and THREADS must be defined"
#endif
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps, at most 1024 threads");

extern "C" __global__ void lucky(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
#if BUG == BUG_RACES
  // Each thread reads what its neighbour in the warp writes, but nothing orders read and write.
  __shared__ float tile[THREADS];
  const int neighbour = i ^ 1;
  tile[threadIdx.x ^ 1] = neighbour < n ? x[neighbour] : 0.0f;
  const float value = tile[threadIdx.x];
#else
  const float value = i < n ? x[i] : 0.0f;
#endif
  if (i < n) y[i] = 2.0f * value + 1.0f;
#if BUG == BUG_READS_BEYOND
  if (i == 0) asm volatile("" ::"f"(x[n]));
#endif
}
