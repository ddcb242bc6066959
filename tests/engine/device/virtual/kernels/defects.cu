// Pairs of kernels for the checker: with BUG each does one thing wrong, without it the same thing
// right. All take n floats in, n floats out, and run with one CTA of 128 threads unless the test
// says otherwise; n is 128.

#define SHARED(pointer) static_cast<unsigned>(__cvta_generic_to_shared(pointer))

__device__ __forceinline__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SHARED(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void copy4(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SHARED(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait_prior() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void bar_sync(int id, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
__device__ __forceinline__ void bar_arrive(int id, int count) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}

// The tile is read before every thread has stored its part.
extern "C" __global__ void missing_sync(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
#ifndef BUG
  __syncthreads();
#endif
  out[t] = tile[(t + 33) % 128];
}

// The tile is overwritten while other warps may still read it.
extern "C" __global__ void missing_sync_before_reuse(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    tile[t] = in[t] + i;
    __syncthreads();
    sum += tile[127 - t];
#ifndef BUG
    __syncthreads();
#endif
  }
  out[t] = sum;
}

// Lanes of one warp exchange through shared memory without __syncwarp.
extern "C" __global__ void missing_syncwarp(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
#ifndef BUG
  __syncwarp();
#endif
  out[t] = tile[t ^ 1];
}

// wait_prior(1) before the last tile, after which nothing newer was committed, waits for nothing.
extern "C" __global__ void wait_prior_last_tile(const float* in, float* out, int n) {
  __shared__ float tile[2][64];
  const int t = threadIdx.x;
  float sum = 0;
  if (t < 16) copy16(&tile[0][4 * t], in + 4 * t);
  commit();
  for (int i = 0; i < 2; ++i) {
    if (i + 1 < 2) {
      if (t < 16) copy16(&tile[1][4 * t], in + 64 + 4 * t);
      commit();
    }
#ifndef BUG
    else {
      commit();
    }
#endif
    wait_prior<1>();
    __syncthreads();
    sum += tile[i][t % 64];
    __syncthreads();
  }
#ifdef BUG
  wait_prior<0>();
#endif
  out[t] = sum;
}

// The copy is never waited for.
extern "C" __global__ void missing_wait(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  copy4(&tile[t], in + t);
  commit();
#ifndef BUG
  wait_prior<0>();
#endif
  __syncthreads();
  out[t] = tile[t];
#ifdef BUG
  wait_prior<0>();
#endif
}

// Every thread waits for its own copies, but nobody for those of the others.
extern "C" __global__ void wait_without_barrier(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  copy4(&tile[t], in + t);
  commit();
  wait_prior<0>();
#ifndef BUG
  __syncthreads();
#endif
  out[t] = tile[(t + 32) % 128];
}

// A stage of the ring is filled again while it is still being read.
extern "C" __global__ void double_use_of_stage(const float* in, float* out, int n) {
  __shared__ float tile[2][128];
  const int t = threadIdx.x;
  float sum = 0;
  copy4(&tile[0][t], in + t);
  commit();
  for (int i = 0; i < 4; ++i) {
#ifdef BUG
    const int next = i & 1;
#else
    const int next = (i + 1) & 1;
#endif
    wait_prior<0>();
    __syncthreads();
    copy4(&tile[next][t], in + t);
    commit();
    sum += tile[i & 1][127 - t];
    __syncthreads();
  }
  wait_prior<0>();
  out[t] = sum;
}

// The tail of the last tile is not masked.
extern "C" __global__ void unmasked_tail(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < (n + 47) / 48 * 48; i += blockDim.x) {
#ifndef BUG
    if (i < n)
#endif
      out[i] = in[i] * 2;
  }
}

// One element too far at the end of the input.
extern "C" __global__ void off_by_one(const float* in, float* out, int n) {
  const int t = threadIdx.x;
#ifdef BUG
  const int next = t + 1;
#else
  const int next = t + 1 < n ? t + 1 : t;
#endif
  out[t] = in[t] + in[next];
}

// Rows of 16 floats are copied contiguously into rows padded to 20: some rows are never filled.
extern "C" __global__ void contiguous_copy_into_padded_rows(const float* in, float* out, int n) {
  __shared__ float tile[8 * 20];
  const int t = threadIdx.x;
#ifdef BUG
  tile[t] = in[t];
#else
  tile[t / 16 * 20 + t % 16] = in[t];
#endif
  __syncthreads();
  out[t] = tile[t / 16 * 20 + t % 16];
}

// The accumulator in shared memory is not cleared.
extern "C" __global__ void uninitialised_accumulator(const float* in, float* out, int n) {
  __shared__ float sum[32];
  const int t = threadIdx.x;
#ifndef BUG
  if (t < 32) sum[t] = 0;
#endif
  __syncthreads();
  if (t < 32) sum[t] += in[t];
  __syncthreads();
  out[t] = sum[t % 32];
}

// Output that nobody wrote decides a branch.
extern "C" __global__ void uninitialised_branch(const float* in, float* out, int n) {
  __shared__ int flag[4];
  const int t = threadIdx.x;
#ifndef BUG
  if (t < 4) flag[t] = t;
#else
  if (t < 3) flag[t] = t;
#endif
  __syncthreads();
  if (flag[t / 32] > 1) {
    out[t] = in[t];
  } else {
    out[t] = sinf(in[t]);
  }
}

// An element of an array in local memory is never set.
extern "C" __global__ void uninitialised_local(const float* in, float* out, int n) {
  float local[32];
  const int t = threadIdx.x;
#ifdef BUG
  for (int i = 0; i < n / 8; ++i) local[(i * 7) % 32] = in[i];
#else
  for (int i = 0; i < n / 4; ++i) local[(i * 7) % 32] = in[i];
#endif
  out[t] = local[(t * 5) % 32];
}

// A plain flag in shared memory tells the consumer that the data are there.
extern "C" __global__ void plain_flag(const float* in, float* out, int n) {
  __shared__ float tile[32];
  __shared__ volatile int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    tile[t] = in[t];
    __syncwarp();
#ifndef BUG
    __threadfence_block();
#endif
    if (t == 0) ready = 1;
  } else {
    while (ready == 0) {
    }
#ifndef BUG
    __threadfence_block();
#endif
    out[t] = tile[t % 32];
  }
  if (t < 32) out[t] = in[t];
}

// The consumer waits for more threads than ever arrive.
extern "C" __global__ void barrier_count_too_large(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t < 64) {
    tile[t] = in[t];
#ifdef BUG
    bar_arrive(1, 128);
#else
    bar_arrive(1, 96);
#endif
  } else if (t < 96) {
#ifdef BUG
    bar_sync(1, 128);
#else
    bar_sync(1, 96);
#endif
    out[t] = tile[t % 64];
  }
}

// Two sides of a barrier name different counts.
extern "C" __global__ void barrier_count_mismatch(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t < 64) {
    tile[t] = in[t];
    bar_arrive(1, 128);
  } else {
#ifdef BUG
    bar_sync(1, 96);
#else
    bar_sync(1, 128);
#endif
    out[t] = tile[t % 64];
  }
}

// A count that is not a multiple of the warp size.
extern "C" __global__ void barrier_count_not_multiple(const float* in, float* out, int n) {
#ifdef BUG
  bar_sync(1, n - 28);
#else
  bar_sync(1, n);
#endif
  out[threadIdx.x] = in[threadIdx.x];
}

// __syncthreads in a branch that only part of a warp takes, another one in the other branch.
extern "C" __global__ void barrier_in_divergent_branch(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
#ifdef BUG
  if (t % 2 == 0) {
    out[t] = sinf(tile[t]);
    asm volatile("bar.sync 0; // even" ::: "memory");
  } else {
    out[t] = cosf(tile[t]);
    asm volatile("bar.sync 0; // odd" ::: "memory");
  }
#else
  if (t % 2 == 0) {
    out[t] = sinf(tile[t]);
  } else {
    out[t] = cosf(tile[t]);
  }
  asm volatile("bar.sync 0;" ::: "memory");
#endif
}

// One warp leaves out a barrier that the others wait at.
extern "C" __global__ void barrier_skipped_by_a_warp(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
#ifdef BUG
  if (t < 96) bar_sync(2, 128);
#else
  bar_sync(2, 128);
#endif
  bar_sync(3, 128);
  out[t] = tile[127 - t];
}

// Producer and consumer wait for each other.
extern "C" __global__ void crossed_barriers(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t < 64) {
#ifdef BUG
    bar_sync(2, 128);
    tile[t] = in[t];
    bar_arrive(1, 128);
#else
    tile[t] = in[t];
    bar_arrive(1, 128);
    bar_sync(2, 128);
#endif
  } else {
    bar_sync(1, 128);
    out[t] = tile[t - 64];
    bar_arrive(2, 128);
  }
}

// Waits for a flag that nobody sets.
extern "C" __global__ void endless_spin(const float* in, float* out, int n) {
  volatile float* flag = out;
  const int t = threadIdx.x;
#ifndef BUG
  out[t] = 1;
#endif
  while (flag[t] != 1.0f) {
  }
  out[t] = in[t];
}

// A vector load from an address that is not a multiple of its size.
extern "C" __global__ void misaligned_vector(const float* in, float* out, int n) {
  const int t = threadIdx.x;
  if (t >= 16) return;
#ifdef BUG
  const float4 v = *reinterpret_cast<const float4*>(in + 4 * t + 1);
#else
  const float4 v = *reinterpret_cast<const float4*>(in + 4 * t + 4);
#endif
  out[t] = v.x + v.y + v.z + v.w;
}

// Stores to the input.
extern "C" __global__ void write_to_input(const float* in, float* out, int n) {
  const int t = threadIdx.x;
#ifdef BUG
  const_cast<float*>(in)[t] = 0;
#endif
  out[t] = in[t];
}

// An index outside of a static shared array, beyond all of the CTA's shared memory.
extern "C" __global__ void shared_out_of_bounds(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
#ifdef BUG
  tile[t + (n - 127)] = in[t];
#else
  tile[t] = in[t];
#endif
  __syncthreads();
  out[t] = tile[t];
}

// A shuffle names lanes that are elsewhere and will not come.
extern "C" __global__ void shuffle_of_absent_lanes(const float* in, float* out, int n) {
  const int t = threadIdx.x;
  float v = in[t];
  if (t % 32 < 16) {
#ifdef BUG
    v += __shfl_xor_sync(0xffffffffu, v, 1);
#else
    v += __shfl_xor_sync(0x0000ffffu, v, 1);
#endif
  }
  __syncthreads();
  out[t] = v;
}

// A shared counter without an atomic.
extern "C" __global__ void counter_without_atomic(const float* in, float* out, int n) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
#ifdef BUG
  if (in[t] > 0) count = count + 1;
#else
  if (in[t] > 0) atomicAdd(&count, 1);
#endif
  __syncthreads();
  out[t] = count;
}

// Work is left when the kernel ends: nobody waits at the barrier that was arrived at.
extern "C" __global__ void barrier_left_pending(const float* in, float* out, int n) {
  const int t = threadIdx.x;
  out[t] = in[t];
  if (t < 32) {
    bar_arrive(4, 64);
  }
#ifndef BUG
  else if (t < 64) {
    bar_sync(4, 64);
  }
#endif
}

// The copy is issued, and the kernel ends.
extern "C" __global__ void copy_left_pending(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  copy4(&tile[t], in + t);
  commit();
  out[t] = in[t];
#ifndef BUG
  wait_prior<0>();
#endif
}

// A trap.
extern "C" __global__ void reaches_trap(const float* in, float* out, int n) {
#ifdef BUG
  const int limit = n - 1;
#else
  const int limit = n;
#endif
  if (static_cast<int>(threadIdx.x) >= limit) __trap();
  out[threadIdx.x] = in[threadIdx.x];
}

// The consumer of an mbarrier does not wait for the phase.
extern "C" __global__ void mbarrier_without_wait(const float* in, float* out, int n) {
  __shared__ float tile[64];
  __shared__ __align__(8) unsigned long long barrier;
  const int t = threadIdx.x;
  const unsigned address = SHARED(&barrier);
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(64) : "memory");
  __syncthreads();
  if (t < 64) {
    tile[t] = in[t];
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(address) : "memory");
  } else {
#ifndef BUG
    asm volatile(
        "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra DONE; bra WAIT; DONE: }" ::
            "r"(address),
        "r"(0)
        : "memory");
#endif
    out[t] = tile[t - 64];
  }
}
