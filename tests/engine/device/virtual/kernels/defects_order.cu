// With BUG, each kernel has the defect that its comment describes, in barriers, loops or accesses,
// or leaves work unfinished. Tests compile this file together with defects.cuh.

// The consumer waits at a barrier for more threads than ever arrive.
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

// Two branches use the same barrier with different thread counts.
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

// The thread count of a barrier is not a multiple of the warp size.
extern "C" __global__ void barrier_count_not_multiple(const float* in, float* out, int n) {
#ifdef BUG
  bar_sync(1, n - 28);
#else
  bar_sync(1, n);
#endif
  out[threadIdx.x] = in[threadIdx.x];
}

// Part of a warp executes one __syncthreads, and the other lanes execute another __syncthreads in
// another branch.
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

// One warp skips a barrier at which the other warps wait.
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

// The kernel waits for a flag that no thread sets.
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

// The address of a vector load is not a multiple of the vector's size.
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

// The kernel stores to its input, which is a read-only buffer.
extern "C" __global__ void write_to_input(const float* in, float* out, int n) {
  const int t = threadIdx.x;
#ifdef BUG
  const_cast<float*>(in)[t] = 0;
#endif
  out[t] = in[t];
}

// An index leads outside a static shared array and beyond all of the CTA's shared memory.
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

// The mask of a shuffle names lanes that took another branch and never arrive.
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

// With BUG, a shuffle's mask names only the lanes that execute the shuffle, but some lanes read
// from lanes outside the mask. A mask may name exited lanes.
extern "C" __global__ void shuffle_from_absent_lanes(const float* in, float* out, int n) {
  const int t = threadIdx.x;
  float v = in[t];
#ifdef BUG
  const unsigned lanes = __ballot_sync(0xffffffffu, t % 32 < 8);
  if (t % 32 < 8) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(lanes, v, offset);
  }
#else
  out[t] = v;
  if (t % 32 >= 8) return;
  for (int offset = 4; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset, 8);
#endif
  out[t] = v;
}

// Threads increment a shared counter without an atomic.
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

// The kernel ends although threads arrived at a barrier at which no thread waits.
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

// The kernel issues an asynchronous copy and ends without waiting for it.
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

// The kernel executes a trap instruction.
extern "C" __global__ void reaches_trap(const float* in, float* out, int n) {
#ifdef BUG
  const int limit = n - 1;
#else
  const int limit = n;
#endif
  if (static_cast<int>(threadIdx.x) >= limit) __trap();
  out[threadIdx.x] = in[threadIdx.x];
}

// The consumer reads the data without waiting for the phase of the mbarrier.
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
