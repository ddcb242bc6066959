// Locks and flags of libcu++ between 8 CTAs of 64 threads. `out` has 256 floats, which are zero at
// first. With BUG, the accesses to the guarded data are not ordered.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/atomic>

constexpr auto kDevice = cuda::thread_scope_device;
using DeviceRef = cuda::atomic_ref<int, kDevice>;

__device__ int word;
__device__ int words[64];
__device__ unsigned next_ticket;
__device__ cuda::atomic<unsigned, kDevice> now_serving;
__device__ cuda::atomic<int, kDevice> flag;
__device__ cuda::std::atomic<int> of_the_system;
__device__ cuda::binary_semaphore<kDevice> binary(1);
#ifdef BUG
__device__ cuda::counting_semaphore<kDevice, 2> counting(2);
constexpr auto kRelease = cuda::memory_order_relaxed;
#define IF_RIGHT(statement)
#define IF_BUG(statement) statement
#else
__device__ cuda::counting_semaphore<kDevice, 2> counting(1);
constexpr auto kRelease = cuda::memory_order_release;
#define IF_RIGHT(statement) statement
#define IF_BUG(statement)
#endif
__device__ cuda::barrier<kDevice> meeting(8);
__device__ cuda::latch<kDevice> all_wrote(8);
__device__ float parts[64];

#define KERNEL(name) extern "C" __global__ void name(const float* in, float* out)
#define ONLY_FIRST if (threadIdx.x != 0) return

template <typename Ref>
__device__ void take(Ref lock, cuda::memory_order order) {
  int free = 0;
  while (!lock.compare_exchange_weak(free, 1, order, cuda::memory_order_relaxed)) free = 0;
}

KERNEL(ref_released) {
  ONLY_FIRST;
  DeviceRef lock(word);
  take(lock, cuda::memory_order_acquire);
  out[0] += 1;
  lock.store(0, kRelease);
}

// The wrong version first tests the lock and takes it later, so that two CTAs may hold the lock at
// once.
KERNEL(ref_looked_at) {
  ONLY_FIRST;
  DeviceRef lock(word);
#ifdef BUG
  while (lock.load(cuda::memory_order_acquire) != 0) {
  }
  lock.exchange(1, cuda::memory_order_acquire);
#else
  take(lock, cuda::memory_order_acquire);
#endif
  out[0] += 1;
  lock.store(0, cuda::memory_order_release);
}

KERNEL(ref_of_the_device) {
  ONLY_FIRST;
#ifdef BUG
  cuda::atomic_ref<int, cuda::thread_scope_block> lock(word);
#else
  DeviceRef lock(word);
#endif
  take(lock, cuda::memory_order_acquire);
  out[0] += 1;
  lock.store(0, cuda::memory_order_release);
}

// Each of 8 buckets has a lock, which diverged lanes take.
KERNEL(ref_of_each_bucket) {
  if (threadIdx.x % 8 != 0) return;
  const unsigned bucket = (threadIdx.x / 8 + blockIdx.x) % 8;
  unsigned guard = bucket;
  IF_BUG(guard = (bucket + blockIdx.x % 2) % 8;)
  DeviceRef lock(words[guard]);
  for (bool done = false; !done;) {
    int free = 0;
    if (!lock.compare_exchange_strong(free, 1, cuda::memory_order_acquire)) continue;
    out[bucket] += 1;
    lock.store(0, cuda::memory_order_release);
    done = true;
  }
}

KERNEL(of_the_system_released) {
  ONLY_FIRST;
  while (of_the_system.exchange(1, cuda::std::memory_order_acquire) != 0) {
  }
  out[0] += 1;
  of_the_system.store(0, kRelease);
}

KERNEL(ticket) {
  ONLY_FIRST;
  const unsigned mine = atomicAdd(&next_ticket, 1u);
  while (now_serving.load(cuda::memory_order_acquire) != mine) {
  }
  IF_BUG(now_serving.fetch_add(1, cuda::memory_order_release);)
  out[0] += 1;
  IF_RIGHT(now_serving.fetch_add(1, cuda::memory_order_release);)
}

KERNEL(binary_semaphore) {
  ONLY_FIRST;
  binary.acquire();
  IF_BUG(binary.release();)
  out[0] += 1;
  IF_RIGHT(binary.release();)
}

KERNEL(binary_semaphore_tried) {
  ONLY_FIRST;
  while (!binary.try_acquire()) {
    IF_BUG(break;)
  }
  out[0] += 1;
  binary.release();
}

// The semaphore admits one CTA at a time; in the wrong version, it admits two CTAs.
KERNEL(counting_semaphore) {
  ONLY_FIRST;
  counting.acquire();
  out[0] += 1;
  counting.release();
}

KERNEL(flag_waited_for) {
  ONLY_FIRST;
  if (blockIdx.x == 0) {
    out[3] = in[3];
    flag.store(1, kRelease);
    flag.notify_all();
  } else {
    flag.wait(0, cuda::memory_order_acquire);
    out[4 + blockIdx.x] = out[3];
  }
}

KERNEL(flag_behind_a_fence) {
  ONLY_FIRST;
  if (blockIdx.x == 0) {
    out[3] = in[3];
    IF_RIGHT(cuda::atomic_thread_fence(cuda::memory_order_release, kDevice);)
    IF_BUG(cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);)
    flag.store(1, cuda::memory_order_relaxed);
  } else if (blockIdx.x == 1) {
    while (flag.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, kDevice);
    out[4] = out[3];
  }
}

// All CTAs arrive at the barrier twice.
KERNEL(barrier_of_the_device) {
  ONLY_FIRST;
  parts[blockIdx.x] = in[blockIdx.x];
  IF_RIGHT(meeting.arrive_and_wait();)
  out[16 + blockIdx.x] = parts[(blockIdx.x + 1) % 8];
  meeting.arrive_and_wait();
  parts[blockIdx.x] = 0;
  IF_BUG(meeting.arrive_and_wait();)
}

KERNEL(barrier_arrived_at) {
  ONLY_FIRST;
  parts[blockIdx.x] = in[blockIdx.x];
  auto token = meeting.arrive();
  IF_RIGHT(meeting.wait(cuda::std::move(token));)
  out[16 + blockIdx.x] = parts[(blockIdx.x + 1) % 8];
  IF_BUG(meeting.wait(cuda::std::move(token));)
}

KERNEL(latch_of_the_device) {
  ONLY_FIRST;
  IF_BUG(all_wrote.count_down();)
  parts[blockIdx.x] = in[blockIdx.x];
  IF_RIGHT(all_wrote.count_down();)
  if (blockIdx.x != 2) return;
  all_wrote.wait();
  float sum = 0;
  for (int b = 0; b < 8; ++b) sum += parts[b];
  out[32] = sum;
}

// The CTA that arrives last adds up the values of all CTAs.
KERNEL(last_to_come) {
  ONLY_FIRST;
  parts[blockIdx.x] = in[blockIdx.x];
#ifdef BUG
  constexpr auto kOrder = cuda::memory_order_acquire;
#else
  constexpr auto kOrder = cuda::memory_order_acq_rel;
#endif
  if (now_serving.fetch_add(1, kOrder) != gridDim.x - 1) return;
  float sum = 0;
  for (int b = 0; b < 8; ++b) sum += parts[b];
  out[32] = sum;
}

// Threads of one CTA synchronise by a cuda::barrier in shared memory.
KERNEL(barrier_of_the_cta) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ float values[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  values[threadIdx.x] = 0;
  __syncthreads();
  values[threadIdx.x] = in[threadIdx.x];
  auto token = barrier.arrive();
  IF_RIGHT(barrier.wait(cuda::std::move(token));)
  const float there = values[threadIdx.x ^ 33];
  IF_BUG(barrier.wait(cuda::std::move(token));)
  if (blockIdx.x == 0) out[64 + threadIdx.x] = there;
}
