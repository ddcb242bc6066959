// Kernels whose CTAs share data by copies, mbarriers, a flag or a lock. BUG, BUG_* add defects.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

__device__ unsigned mapped(const void* pointer, unsigned rank) {
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_address(pointer)), "r"(rank));
  return address;
}

__device__ void init(unsigned long long* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}

__device__ void expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ void arrive_at(unsigned address) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address)
               : "memory");
}

__device__ void wait_for(unsigned long long* barrier, unsigned parity) {
  unsigned done = 0;
  while (!done) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

__device__ void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The first CTA loads a tile for all CTAs of the cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) multicast(int* out, const int* in) {
  __shared__ alignas(128) int tile[64];
  __shared__ alignas(8) unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    init(&barrier, 1);
#ifdef BUG_BYTES
    expect(&barrier, sizeof(tile) + 16);
#else
    expect(&barrier, sizeof(tile));
#endif
    fence_init();
  }
  cluster.sync();
#if defined(BUG_MASK)
  const unsigned short mask = 0b0111;
#elif defined(BUG_WIDE_MASK)
  const unsigned short mask = 0b11111;
#else
  const unsigned short mask = 0b1111;
#endif
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(tile)),
        "l"(in + blockIdx.x * 16), "r"((unsigned)sizeof(tile)), "r"(shared_address(&barrier)),
        "h"(mask)
        : "memory");
  }
#ifndef BUG_NO_WAIT
  wait_for(&barrier, 0);
#endif
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 32];
  cluster.sync();
}

// A ring: every CTA waits until the slot in the next CTA is free, and fills the slot by a copy from
// its own shared memory. The next CTA frees the slot by an arrival at an mbarrier of this CTA.
extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(int* out, const int* in) {
  constexpr unsigned kRounds = 6;
  __shared__ alignas(128) int slot[64];
  __shared__ alignas(128) int mine[64];
  __shared__ alignas(8) unsigned long long full, free_again;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const unsigned next = (rank + 1) % 4, previous = (rank + 3) % 4;
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&free_again, 64);
    fence_init();
  }
  int value = in[blockIdx.x * 64 + threadIdx.x];
  int sum = 0;
#ifdef BUG_NO_START
  __syncthreads();
#else
  cluster.sync();
#endif
  for (unsigned round = 0; round < kRounds; ++round) {
    // The wait ends when the next CTA has read its slot, so the copy from `mine` is complete.
#ifndef BUG_NOT_FREE
    if (round > 0) wait_for(&free_again, (round - 1) & 1);
#endif
    mine[threadIdx.x] = value;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      expect(&full, sizeof(slot));
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(mapped(slot, next)),
          "r"(shared_address(mine)), "r"((unsigned)sizeof(slot)), "r"(mapped(&full, next))
          : "memory");
    }
#ifdef BUG_SOURCE
    __syncthreads();
    mine[threadIdx.x] = 0;
#endif
    wait_for(&full, round & 1);
    sum = sum * 3 + slot[threadIdx.x];
    value = slot[threadIdx.x] + 1;
    arrive_at(mapped(&free_again, previous));
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  cluster.sync();
}

// The two CTAs exchange values by st.async.
extern "C" __global__ void __cluster_dims__(2, 1, 1) async_stores(int* out, const int* in) {
  __shared__ alignas(16) int box[64];
  __shared__ alignas(8) unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    init(&barrier, 1);
#ifdef BUG_BYTES
    expect(&barrier, 224);
#else
    expect(&barrier, 256);
#endif
    fence_init();
  }
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  const int value = in[blockIdx.x * 32 + threadIdx.x];
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32 [%0], {%1, %2}, [%3];" ::
          "r"(mapped(box + 2 * threadIdx.x, other)),
      "r"(value), "r"(2 * value), "r"(mapped(&barrier, other))
      : "memory");
#ifndef BUG_NO_WAIT
  wait_for(&barrier, 0);
#endif
  out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x] + box[63 - threadIdx.x];
  cluster.sync();
}

// The first CTA sends a value and then a flag, by a release and an acquire of cluster scope.
extern "C" __global__ void __cluster_dims__(2, 1, 1) flag(int* out, const int* in) {
  __shared__ int value[32];
  __shared__ int ready;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) ready = 0;
  cluster.sync();
  if (cluster.block_rank() == 0) {
    cluster.map_shared_rank(value, 1)[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
#ifdef BUG
      asm volatile("st.relaxed.cluster.shared::cluster.s32 [%0], 1;" ::"r"(mapped(&ready, 1))
                   : "memory");
#else
      asm volatile("st.release.cluster.shared::cluster.s32 [%0], 1;" ::"r"(mapped(&ready, 1))
                   : "memory");
#endif
    }
  } else {
    int seen = 0;
    while (seen == 0) {
      asm volatile("ld.acquire.cluster.shared::cta.s32 %0, [%1];"
                   : "=r"(seen)
                   : "r"(shared_address(&ready))
                   : "memory");
    }
    out[blockIdx.x / 2 * 32 + threadIdx.x] = value[threadIdx.x];
  }
  cluster.sync();
}

struct alignas(64) TensorMap {
  char bytes[128];
};

// Each of two CTAs loads half of a tile for both CTAs.
extern "C" __global__ void __cluster_dims__(1, 2, 1)
    multicast_tensor(int* out, const __grid_constant__ TensorMap map) {
  __shared__ alignas(128) int tile[2][64];
  __shared__ alignas(8) unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    init(&barrier, 1);
    expect(&barrier, sizeof(tile));
    fence_init();
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile[rank])),
        "l"(&map), "r"(0), "r"(4 * rank), "r"(shared_address(&barrier)), "h"((unsigned short)3)
        : "memory");
  }
  wait_for(&barrier, 0);
  for (unsigned i = threadIdx.x; i < 128; i += 32) out[blockIdx.y * 128 + i] = tile[i / 64][i % 64];
  cluster.sync();
}

// The CTAs of a cluster take turns in a critical section, whose lock is in the first CTA.
extern "C" __global__ void __cluster_dims__(4, 1, 1) lock(int* out, const int* in) {
  __shared__ int taken, sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) taken = sum = 0;
  cluster.sync();
  int* lock = cluster.map_shared_rank(&taken, 0);
  int* total = cluster.map_shared_rank(&sum, 0);
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *total = *total * 2 + in[blockIdx.x / 4];
#ifndef BUG
    __threadfence();
#endif
    atomicExch(lock, 0);
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / 4] = sum;
}
