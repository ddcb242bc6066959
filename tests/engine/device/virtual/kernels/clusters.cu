// Kernels with clusters of several CTAs. Macros whose names begin with BUG add the defects.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each CTA holds a quarter of the bins in shared memory, and all CTAs of its cluster add to them.
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(unsigned* bins, const int* in) {
  constexpr unsigned kBins = 64;
  __shared__ unsigned counts[kBins / 4];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < kBins / 4) counts[threadIdx.x] = 0;
  cluster.sync();
  const unsigned bin = in[blockIdx.x * blockDim.x + threadIdx.x] % kBins;
  atomicAdd(cluster.map_shared_rank(counts, bin / (kBins / 4)) + bin % (kBins / 4), 1);
  cluster.sync();
  if (threadIdx.x < kBins / 4)
    atomicAdd(bins + cluster.block_rank() * (kBins / 4) + threadIdx.x, counts[threadIdx.x]);
}

// Each CTA of a cluster stores the sum of its values in the first CTA, by PTX instructions.
extern "C" __global__ void __cluster_dims__(2, 2, 1) reduction(int* out, const int* in) {
  __shared__ int parts[4];
  const unsigned cta = blockIdx.x + gridDim.x * blockIdx.y;
  int value = in[cta * blockDim.x + threadIdx.x];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
  unsigned rank, address, x, y, size, owner;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(y));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;"
               : "=r"(address)
               : "r"((unsigned)__cvta_generic_to_shared(parts)));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(address));
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;");
  if (threadIdx.x == 0)
    asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(address + 4 * rank), "r"(value));
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x < 4) {
    out[(x + gridDim.x / 2 * y) * 8 + threadIdx.x] = parts[threadIdx.x];
    out[(x + gridDim.x / 2 * y) * 8 + 4 + threadIdx.x] = size + 10 * owner;
  }
}

// Every CTA reads the shared memory of the other CTA of its cluster through a generic pointer.
extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbour(int* out, const int* in) {
  __shared__ int tile[32];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned at = blockIdx.x * 32 + threadIdx.x;
  tile[threadIdx.x] = in[at];
#ifdef BUG_NO_BARRIER_BEFORE
  __syncthreads();
#else
  cluster.sync();
#endif
  out[at] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[31 - threadIdx.x];
#ifndef BUG_EXITS_EARLY
  cluster.sync();
#endif
}

// Every CTA overwrites its data after the other CTA has read them; with BUG, possibly before.
extern "C" __global__ void __cluster_dims__(2, 1, 1) overwrites(int* out, const int* in) {
  __shared__ int tile[32];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned at = blockIdx.x * 32 + threadIdx.x;
  int* other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  tile[threadIdx.x] = in[at];
  cluster.sync();
  const int first = other[threadIdx.x];
#ifndef BUG
  cluster.sync();
#endif
  tile[threadIdx.x] = 2 * in[at];
  cluster.sync();
  out[at] = first + other[threadIdx.x];
  cluster.sync();
}

// Both CTAs add to one location in the first CTA's shared memory; with BUG, non-atomically.
extern "C" __global__ void __cluster_dims__(2, 1, 1) both_write(int* out, const int* in) {
  __shared__ int sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) sum = 0;
  cluster.sync();
  int* first = cluster.map_shared_rank(&sum, 0);
#ifdef BUG
  if (threadIdx.x == 0) *first += in[blockIdx.x];
#else
  if (threadIdx.x == 0) atomicAdd(first, in[blockIdx.x]);
#endif
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x] = sum;
}

// With BUG, a CTA reads from a rank that the cluster does not have.
extern "C" __global__ void __cluster_dims__(2, 1, 1) outside(int* out, const int* in) {
  __shared__ int tile[32];
  cg::cluster_group cluster = cg::this_cluster();
  tile[threadIdx.x] = in[threadIdx.x];
  cluster.sync();
#ifdef BUG
  const unsigned rank = cluster.block_rank() + 1;
#else
  const unsigned rank = (cluster.block_rank() + 1) % 2;
#endif
  out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(tile, rank)[threadIdx.x];
  cluster.sync();
}

// With BUG, a warp of one CTA never arrives at the barrier, because it waits for another warp.
extern "C" __global__ void __cluster_dims__(2, 1, 1) never_arrives(int* out, const int* in) {
  cg::cluster_group cluster = cg::this_cluster();
  out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
#ifdef BUG
  if (cluster.block_rank() == 1 && threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
#endif
  cluster.sync();
}

// Threads that have exited count as arrived. With BUG, the others wait again without arriving.
extern "C" __global__ void __cluster_dims__(2, 1, 1) some_exit(int* out, const int* in) {
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x % 2 == 1) return;
  out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  cluster.sync();
#ifdef BUG
  asm volatile("barrier.cluster.wait;");
#endif
}

// CTAs pass data in global memory. The barrier of the cluster orders the accesses, except with BUG.
extern "C" __global__ void __cluster_dims__(2, 1, 1) through_global(int* out, const int* in) {
  const unsigned at = blockIdx.x * 32 + threadIdx.x;
  out[at] = in[at];
#ifdef BUG
  asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait;" ::: "memory");
#else
  cg::this_cluster().sync();
#endif
  const int other = out[at ^ 32];
  cg::this_cluster().sync();
  out[at] = other;
}

// The first CTA waits until the second CTA sets a flag; with BUG, for a value that never comes.
extern "C" __global__ void __cluster_dims__(2, 1, 1) polls(int* out, const int* in) {
  cg::cluster_group cluster = cg::this_cluster();
  volatile int* flag = out + blockIdx.x / 2;
#ifdef BUG
  const int wanted = 2;
#else
  const int wanted = 1;
#endif
  if (threadIdx.x == 0 && cluster.block_rank() == 1) *flag = 1;
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    while (*flag != wanted) {
    }
  }
  cluster.sync();
}
