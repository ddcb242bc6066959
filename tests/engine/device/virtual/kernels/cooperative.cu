// Kernels whose CTAs wait for each other; the CTAs of `plain` do not.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// In each step, every element becomes the sum of itself and its right neighbour from the previous
// step.
extern "C" __global__ void neighbours(int* a, int* b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int step = 0; step < steps; ++step) {
    const int* from = step % 2 == 0 ? a : b;
    int* to = step % 2 == 0 ? b : a;
    if (i < n) to[i] = from[i] + from[(i + 1) % n];
    grid.sync();
  }
}

#if __CUDA_ARCH__ >= 900
// The CTAs meet before they wait for the previous kernel, which may still run.
extern "C" __global__ void meets_before_it_waits(const int* a, int* b) {
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  b[grid.thread_rank()] = a[grid.size() - 1 - grid.thread_rank()];
}
#endif

extern "C" __global__ void sum_of_all(const int* x, int* partial, int* out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
    atomicAdd(&total, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int sum = 0;
    for (int c = 0; c < static_cast<int>(gridDim.x); ++c) sum += partial[c];
    *out = grid.is_valid() ? sum : -1;
  }
}

// CTA 0 exits without waiting for the other CTAs.
extern "C" __global__ void one_leaves(int* out) {
  if (blockIdx.x == 0) return;
  cg::this_grid().sync();
  out[blockIdx.x] = 1;
}

extern "C" __global__ void plain(int* out) { out[blockIdx.x] = 1; }
