// Locks and flags between 8 CTAs of 64 threads. `out` has 256 floats, which are zero at first. With
// BUG, the accesses to the guarded data are not ordered.

__device__ int lock;
__device__ int locks[16];
__device__ unsigned next_ticket, now_serving;
__device__ int flags[64];
__device__ float parts[1024];
__device__ unsigned arrived;

#define LOCK(l) while (atomicCAS(l, 0, 1) != 0) {}
#define UNLOCK(l) atomicExch(l, 0)
#ifdef BUG
#define IF_RIGHT(statement)
#define IF_BUG(statement) statement
#else
#define IF_RIGHT(statement) statement
#define IF_BUG(statement)
#endif
#define KERNEL(name) extern "C" __global__ void name(const float* in, float* out)
#define ONLY_FIRST if (threadIdx.x != 0) return

__device__ int volatile_of(int* place) { return *reinterpret_cast<volatile int*>(place); }

KERNEL(cas_without_fence) {
  ONLY_FIRST;
  LOCK(&lock);
  __threadfence();
  out[0] += 1;
  IF_RIGHT(__threadfence();)
  UNLOCK(&lock);
}

KERNEL(unlocked_too_early) {
  ONLY_FIRST;
  LOCK(&lock);
  __threadfence();
  IF_BUG(__threadfence(); UNLOCK(&lock);)
  out[0] += 1;
  IF_RIGHT(__threadfence(); UNLOCK(&lock);)
}

KERNEL(freed_by_volatile_store) {
  ONLY_FIRST;
  while (atomicExch(&lock, 1) != 0) {
  }
  __threadfence();
  out[0] += 1;
  IF_RIGHT(__threadfence();)
  *reinterpret_cast<volatile int*>(&lock) = 0;
}

KERNEL(freed_by_plain_store) {
  ONLY_FIRST;
  LOCK(&lock);
  __threadfence();
  out[0] += 1;
  IF_RIGHT(__threadfence();)
  lock = 0;
}

KERNEL(ticket_served_too_early) {
  ONLY_FIRST;
  const unsigned ticket = atomicAdd(&next_ticket, 1u);
  while (*reinterpret_cast<volatile unsigned*>(&now_serving) != ticket) {
  }
  __threadfence();
  IF_BUG(atomicAdd(&now_serving, 1u);)
  out[0] += 1;
  __threadfence();
  IF_RIGHT(atomicAdd(&now_serving, 1u);)
}

KERNEL(ticket_polled_by_atomics) {
  ONLY_FIRST;
  const unsigned ticket = atomicAdd(&next_ticket, 1u);
  while (atomicAdd(&now_serving, 0u) != ticket) __nanosleep(20);
  __threadfence();
  out[0] += 1;
  IF_RIGHT(__threadfence();)
  atomicAdd(&now_serving, 1u);
}

// All threads work under the lock that the first thread has taken.
KERNEL(no_barrier_before_unlock) {
  if (threadIdx.x == 0) {
    LOCK(&lock);
    __threadfence();
  }
  __syncthreads();
  out[threadIdx.x] += 1;
  __threadfence();
  IF_RIGHT(__syncthreads();)
  if (threadIdx.x == 0) UNLOCK(&lock);
}

KERNEL(no_barrier_after_lock) {
  if (threadIdx.x == 0) {
    LOCK(&lock);
    __threadfence();
  }
  IF_RIGHT(__syncthreads();)
  out[threadIdx.x] += 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) UNLOCK(&lock);
}

KERNEL(fence_of_the_cta_alone) {
  if (threadIdx.x == 0) {
    LOCK(&lock);
    __threadfence();
  }
  __syncthreads();
  out[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    IF_BUG(__threadfence_block();)
    IF_RIGHT(__threadfence();)
    UNLOCK(&lock);
  }
}

KERNEL(lock_of_the_cta_alone) {
  ONLY_FIRST;
#ifdef BUG
  while (atomicCAS_block(&lock, 0, 1) != 0) {
  }
#else
  LOCK(&lock);
#endif
  __threadfence();
  out[0] += 1;
  __threadfence();
  IF_BUG(atomicExch_block(&lock, 0);)
  IF_RIGHT(UNLOCK(&lock);)
}

KERNEL(two_locks_for_one_place) {
  ONLY_FIRST;
  int* mine = &locks[0];
  IF_BUG(mine = &locks[blockIdx.x % 2];)
  LOCK(mine);
  __threadfence();
  out[0] += 1;
  __threadfence();
  UNLOCK(mine);
}

KERNEL(lock_of_each_warp) {
  if (threadIdx.x % 32 != 0) return;
  for (int again = 0; again < 4; ++again) {
    LOCK(&lock);
    __threadfence();
    out[0] += 0.125f;
    IF_RIGHT(__threadfence();)
    UNLOCK(&lock);
  }
}

KERNEL(lock_of_each_thread) {
  if (threadIdx.x % 4 != 0) return;  // attempts grow with the square of the number of threads
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();
      out[0] += 1.0f / 16;
      IF_RIGHT(__threadfence();)
      UNLOCK(&lock);
      done = true;
    }
  }
}

// Each of 8 buckets has a lock; with BUG, some CTAs take the lock of another bucket.
KERNEL(bucket_locks) {
  if (threadIdx.x % 8 != 0) return;
  const unsigned bucket = (threadIdx.x / 8 + blockIdx.x) % 8;
  unsigned guard = bucket;
  IF_BUG(guard = (bucket + blockIdx.x % 2) % 8;)
  for (bool done = false; !done;) {
    if (atomicCAS(&locks[guard], 0, 1) != 0) continue;
    __threadfence();
    out[bucket] += 1;
    __threadfence();
    UNLOCK(&locks[guard]);
    done = true;
  }
}

// A readers-writer lock is a counter: each reader adds 1, and a writer subtracts 1000, which it can
// do only while the counter is 0.
KERNEL(readers_and_writers) {
  ONLY_FIRST;
  constexpr int kAll = 1000;
  if (blockIdx.x % 4 == 0) {
    while (atomicCAS(&lock, 0, -kAll) != 0) {
    }
    __threadfence();
    out[1] += 1;
    __threadfence();
    atomicAdd(&lock, kAll);
    return;
  }
#ifndef BUG
  while (atomicAdd(&lock, 1) < 0) atomicAdd(&lock, -1);
#endif
  __threadfence();
  parts[blockIdx.x] = out[1];
#ifndef BUG
  __threadfence();
  atomicAdd(&lock, -1);
#endif
}

// Each CTA waits for the flag of the previous CTA.
KERNEL(chain_of_flags) {
  ONLY_FIRST;
  const int b = static_cast<int>(blockIdx.x);
  while (b > 0 && volatile_of(&flags[b - 1]) == 0) {
  }
  __threadfence();
  IF_BUG(*reinterpret_cast<volatile int*>(&flags[b]) = 1;)
  out[0] += 1;
  __threadfence();
  IF_RIGHT(*reinterpret_cast<volatile int*>(&flags[b]) = 1;)
}

// The last CTA reads data of the first CTA, ordered only by a chain of flags through all other
// CTAs. With BUG, CTA 3 does not wait, which breaks the chain.
KERNEL(told_by_others) {
  ONLY_FIRST;
  const int b = static_cast<int>(blockIdx.x);
  if (b == 0) {
    out[0] = 8;
    __threadfence();
  }
#ifdef BUG
  const bool waits = b > 0 && b != 3;
#else
  const bool waits = b > 0;
#endif
  while (waits && volatile_of(&flags[b - 1]) == 0) {
  }
  __threadfence();
  if (b == 7) out[1] = out[0];
  atomicExch(&flags[b], 1);
}

// The flag of CTA 0 does not order the accesses of CTA 1; with BUG, CTA 2 does not wait for the
// flag of CTA 1.
KERNEL(flag_of_somebody_else) {
  ONLY_FIRST;
  const int b = static_cast<int>(blockIdx.x);
  if (b < 2) {
    parts[b] = in[b];
    __threadfence();
    atomicExch(&flags[b], 1);
  } else if (b == 2) {
    int seen = 0;
    IF_BUG(seen = 1;)
    while (volatile_of(&flags[0]) == 0 || (seen == 0 && volatile_of(&flags[1]) == 0)) {
    }
    __threadfence();
    out[2] = parts[0] + parts[1];
  }
}

// A producer and a consumer exchange data through a buffer of two slots.
KERNEL(slots) {
  ONLY_FIRST;
  if (blockIdx.x > 1) return;
  for (int item = 0; item < 8; ++item) {
    if (blockIdx.x == 0) {
#ifndef BUG
      while (volatile_of(&flags[1]) + 2 <= item) {
      }
#endif
      __threadfence();
      parts[item % 2] = in[item] + item;
      __threadfence();
      *reinterpret_cast<volatile int*>(&flags[0]) = item + 1;
    } else {
      while (volatile_of(&flags[0]) <= item) {
      }
      __threadfence();
      out[8 + item] = parts[item % 2];
      __threadfence();
      *reinterpret_cast<volatile int*>(&flags[1]) = item + 1;
    }
  }
}

// CTA 1 reads items by volatile reads, which are no race. With BUG, CTA 0 sets the flag before it
// stores the item, so CTA 1 may read the old item.
KERNEL(announced_too_early) {
  ONLY_FIRST;
  if (blockIdx.x > 1) return;
  volatile float* items = parts;
  for (int item = 0; item < 8; ++item) {
    if (blockIdx.x == 0) {
      IF_BUG(*reinterpret_cast<volatile int*>(&flags[item]) = 1;)
      items[item] = in[item] + item;
      __threadfence();
      IF_RIGHT(*reinterpret_cast<volatile int*>(&flags[item]) = 1;)
    } else {
      while (volatile_of(&flags[item]) == 0) {
      }
      __threadfence();
      out[8 + item] = items[item];
    }
  }
}

KERNEL(release_and_acquire) {
  ONLY_FIRST;
  if (blockIdx.x == 0) {
    out[3] = in[3];
#ifdef BUG
    asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(&flags[0]) : "memory");
#else
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(&flags[0]) : "memory");
#endif
  } else if (blockIdx.x == 1) {
    int seen = 0;
    while (seen == 0)
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flags[0]) : "memory");
    out[4] = out[3];
  }
}

// The CTA that arrives last adds up the values of all CTAs; with BUG, the last but one does.
KERNEL(last_but_one) {
  __shared__ bool last;
  parts[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  __syncthreads();
  unsigned awaited = gridDim.x - 1;
  IF_BUG(awaited -= 1;)
  if (threadIdx.x == 0) last = atomicAdd(&arrived, 1u) == awaited;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b * 64 + threadIdx.x];
  out[64 + threadIdx.x] = sum;
}

KERNEL(last_without_barrier) {
  __shared__ bool last;
  parts[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  __threadfence();
  IF_RIGHT(__syncthreads();)
  if (threadIdx.x == 0) last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b * 64 + threadIdx.x];
  out[64 + threadIdx.x] = sum;
}

// CTAs wait for each other several times.
KERNEL(meets_again) {
  for (unsigned round = 1; round <= 4; ++round) {
    parts[blockIdx.x * 64 + threadIdx.x] += in[threadIdx.x];
    __threadfence();
    IF_RIGHT(__syncthreads();)
    if (threadIdx.x == 0) {
      atomicAdd(&arrived, 1u);
      while (*reinterpret_cast<volatile unsigned*>(&arrived) < 2 * round * gridDim.x - gridDim.x) {
      }
    }
    __syncthreads();
    if (blockIdx.x < 2) {
      out[128 + blockIdx.x * 64 + threadIdx.x] += parts[(blockIdx.x + 1) * 64 + threadIdx.x];
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(&arrived, 1u);
      while (*reinterpret_cast<volatile unsigned*>(&arrived) < 2 * round * gridDim.x) {
      }
    }
    __syncthreads();
  }
}

// CTA 3 reads a total. With BUG, CTA 3 does not wait until the other CTAs have added to the total.
KERNEL(total_read_while_added) {
  if (threadIdx.x == 0) {
    atomicAdd(out + 5, 1.0f);
    __threadfence();
    atomicAdd(&arrived, 1u);
  }
  if (blockIdx.x != 3 || threadIdx.x != 0) return;
#ifndef BUG
  while (*reinterpret_cast<volatile unsigned*>(&arrived) != gridDim.x) {
  }
  __threadfence();
#endif
  out[6] = out[5];
}
