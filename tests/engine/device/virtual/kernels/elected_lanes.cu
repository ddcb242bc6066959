// Kernels whose lanes exchange data, for example through one lane that arrives or waits for others,
// or by copies that an mbarrier tracks.
// Each kernel runs two warps and computes out[i] = 2 * in[i]. With BUG, lanes that exchange data do
// not synchronise.

#ifdef BUG
constexpr bool kHasBug = true;
#else
constexpr bool kHasBug = false;
#endif

__device__ unsigned lane() { return threadIdx.x % 32; }

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

__device__ void init(unsigned long long* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(count)
               : "memory");
}

__device__ void arrive(unsigned long long* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(
                   address_of(barrier))
               : "memory");
}

__device__ void wait(unsigned long long* barrier, unsigned parity = 0) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
        " selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address_of(barrier)), "r"(parity)
        : "memory");
  }
}

__device__ void init_pair(unsigned long long* barriers, unsigned count) {
  if (threadIdx.x < 2) init(&barriers[threadIdx.x], count);
  __syncthreads();
}

__device__ void meet() {
  if (!kHasBug) __syncwarp();
}

// A fence orders the accesses of its own thread only.
extern "C" __global__ void fence_between(const float* in, float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = in[threadIdx.x];
  kHasBug ? __threadfence_block() : __syncwarp();
  out[threadIdx.x ^ 1] = 2 * values[threadIdx.x ^ 1];
}

// One lane arrives for the writes of its warp.
extern "C" __global__ void one_arrives(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 1);
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  meet();
  if (lane() == 0) arrive(&barriers[warp]);
  wait(&barriers[warp ^ 1]);
  out[threadIdx.x ^ 32] = 2 * values[threadIdx.x ^ 32];
}

// One lane arrives for the reads of its warp, and then the other warp overwrites the values.
extern "C" __global__ void one_arrives_after_reads(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 1);
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 2 * values[threadIdx.x];
  meet();
  if (lane() == 0) arrive(&barriers[warp]);
  wait(&barriers[warp ^ 1]);
  values[threadIdx.x ^ 32] = 7;
}

// One lane waits for the writes of the other warp.
extern "C" __global__ void one_waits(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 32);
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  arrive(&barriers[warp]);
  if (lane() == 0) wait(&barriers[warp ^ 1]);
  meet();
  out[threadIdx.x ^ 32] = 2 * values[threadIdx.x ^ 32];
}

// One lane arrives for the writes of each half of a warp.
extern "C" __global__ void one_of_each_half_arrives(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 2);
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  const unsigned lanes = kHasBug ? 8 : 16;
  __syncwarp(((1u << lanes) - 1) << (lane() / lanes * lanes));
  if (lane() % 16 == 0) arrive(&barriers[warp]);
  wait(&barriers[warp ^ 1]);
  out[threadIdx.x ^ 32] = 2 * values[threadIdx.x ^ 32];
}

// The elected lane needs no __syncwarp() for its own writes.
extern "C" __global__ void one_writes_and_arrives(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 1);
  const unsigned warp = threadIdx.x / 32;
  if (lane() == (kHasBug ? 1 : 0)) {
    for (unsigned i = 0; i < 32; ++i) values[warp * 32 + i] = in[warp * 32 + i];
  }
  if (lane() == 0) arrive(&barriers[warp]);
  wait(&barriers[warp ^ 1]);
  out[threadIdx.x ^ 32] = 2 * values[threadIdx.x ^ 32];
}

// Two lanes of warp 0 synchronise through two mbarriers and a lane of warp 1.
extern "C" __global__ void lanes_meet_through_another_warp(const float* in, float* out) {
  __shared__ float value;
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 1);
  out[threadIdx.x] = 2 * in[threadIdx.x];
  if (threadIdx.x == 3) {
    value = in[7];
    arrive(&barriers[0]);
  }
  if (threadIdx.x == 40) {
    wait(&barriers[0]);
    arrive(&barriers[1]);
  }
  if (threadIdx.x == 7) {
    if (!kHasBug) wait(&barriers[1]);
    out[7] = 2 * value;
  }
}

// One lane stores a flag for the writes of its warp.
extern "C" __global__ void one_stores_a_flag(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ int flags[2];
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  meet();
  if (lane() == 0) {
    __threadfence_block();
    *static_cast<volatile int*>(&flags[warp]) = 1;
  }
  while (*static_cast<volatile int*>(&flags[warp ^ 1]) == 0) {
  }
  __threadfence_block();
  out[threadIdx.x ^ 32] = 2 * values[threadIdx.x ^ 32];
}

// One lane reads the flag that says that the other warp has written.
extern "C" __global__ void one_reads_a_flag(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ int counts[2];
  if (threadIdx.x < 2) counts[threadIdx.x] = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  __threadfence_block();
  atomicAdd(&counts[warp], 1);
  if (lane() == 0) {
    while (*static_cast<volatile int*>(&counts[warp ^ 1]) != 32) {
    }
    __threadfence_block();
  }
  meet();
  out[threadIdx.x ^ 32] = 2 * values[threadIdx.x ^ 32];
}

// Each thread takes a lock in shared memory, so the lock also orders the lanes of one warp.
extern "C" __global__ void lock_between_lanes(const float* in, float* out) {
  __shared__ int lock;
  __shared__ int count;
  if (threadIdx.x == 0) lock = count = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      if (!kHasBug) __threadfence_block();
      count = count + 1;
      if (!kHasBug) __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  out[threadIdx.x] = count == 64 ? 2 * in[threadIdx.x] : 0;
}

// The lane of a warp that arrives last reads the values of the other lanes.
extern "C" __global__ void last_lane_reads(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ int counts[2];
  if (threadIdx.x < 2) counts[threadIdx.x] = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  values[threadIdx.x] = in[threadIdx.x];
  if (!kHasBug) __threadfence_block();
  if (atomicAdd(&counts[warp], 1) == 31) {
    __threadfence_block();
    for (unsigned i = 0; i < 32; ++i) out[warp * 32 + i] = 2 * values[warp * 32 + i];
  }
}

// Lanes i and i ^ 5 hand their values to each other by flags.
extern "C" __global__ void flag_between_lanes(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ int flags[64];
  flags[threadIdx.x] = 0;
  __syncthreads();
  values[threadIdx.x] = in[threadIdx.x];
  if (!kHasBug) __threadfence_block();
  *static_cast<volatile int*>(&flags[threadIdx.x]) = 1;
  while (*static_cast<volatile int*>(&flags[threadIdx.x ^ 5]) == 0) {
  }
  __threadfence_block();
  out[threadIdx.x ^ 5] = 2 * values[threadIdx.x ^ 5];
}

// Lane 1 leaves the mbarrier, so its second phase needs one arrival less. With BUG, lane 1 does not
// leave, so the second phase lacks an arrival.
extern "C" __global__ void one_lane_leaves(const float* in, float* out) {
  __shared__ float values[64];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  const bool leaves = threadIdx.x == 1;
  if (leaves && !kHasBug) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive_drop.shared.b64 state, [%0]; }" ::"r"(
                     address_of(&barrier))
                 : "memory");
  } else {
    arrive(&barrier);
  }
  wait(&barrier, 0);
  values[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  if (!leaves) {
    arrive(&barrier);
    wait(&barrier, 1);
  }
  __syncwarp();
  out[threadIdx.x ^ 33] = 2 * values[threadIdx.x ^ 33];
}

__device__ void copy_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(shared)), "l"(global)
               : "memory");
}

// The mbarrier then also waits for the thread's copies.
__device__ void arrive_with_copies(unsigned long long* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(barrier))
               : "memory");
}

// A barrier of the CTA does not wait for copies that an mbarrier tracks.
extern "C" __global__ void copies_of_an_mbarrier(const float* in, float* out) {
  __shared__ __align__(16) float tile[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 64);
  if (threadIdx.x < 16) copy_16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
  arrive_with_copies(&barriers[0]);
  if (!kHasBug) wait(&barriers[0]);
  __syncthreads();
  out[threadIdx.x] = 2 * tile[threadIdx.x];
}

// The threads wait for another mbarrier than the one that tracks the copies.
extern "C" __global__ void copies_of_another_mbarrier(const float* in, float* out) {
  __shared__ __align__(16) float tile[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 64);
  if (threadIdx.x < 16) copy_16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
  arrive_with_copies(&barriers[kHasBug ? 1 : 0]);
  if (kHasBug) arrive(&barriers[0]);
  wait(&barriers[0]);
  out[threadIdx.x] = 2 * tile[threadIdx.x];
}

// A thread that waits for its copies itself and then at a barrier needs no wait for the mbarrier.
extern "C" __global__ void copies_waited_for_twice(const float* in, float* out) {
  __shared__ __align__(16) float tile[64];
  __shared__ unsigned long long barriers[2];
  init_pair(barriers, 64);
  if (threadIdx.x < 16) copy_16(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
  arrive_with_copies(&barriers[0]);
  if (!kHasBug) asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = 2 * tile[threadIdx.x];
}
