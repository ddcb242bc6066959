// Kernels whose 4 CTAs of 64 threads access the same global memory. `in` and `out` have 256
// elements; `out` is zero at first. With BUG, most kernels have accesses that nothing orders.

__device__ float parts[256];
__device__ unsigned arrived;
__device__ volatile unsigned ready;

// Returns true in all threads of the CTA that arrives last.
__device__ bool comes_last() {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&arrived, 1u) % gridDim.x == gridDim.x - 1;
  __syncthreads();
  return last;
}

__device__ float sum_of_parts() {
  float sum = 0;
  for (unsigned cta = 0; cta < gridDim.x; ++cta) sum += parts[cta * 64 + threadIdx.x];
  return sum;
}

// With BUG, a CTA overwrites elements while another CTA may still read their old values.
extern "C" __global__ void in_place(const float* in, float* out) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
#ifdef BUG
  out[i] = in[i] + out[(i + 64) % 256];
#else
  out[i] = in[i] + in[(i + 64) % 256];
#endif
}

// CTAs store whole rows; with BUG, each row begins at the last element of the previous row.
extern "C" __global__ void overlapping_rows(const float* in, float* out) {
#ifdef BUG
  const unsigned i = blockIdx.x * 63 + threadIdx.x;
#else
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
#endif
  out[i] = in[i] + static_cast<float>(blockIdx.x + 1);
}

// With BUG, the last CTA of the grid reads elements of `parts` without waiting for the CTAs that
// store these elements.
extern "C" __global__ void without_waiting(const float* in, float* out) {
  parts[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
#ifdef BUG
  if (blockIdx.x == gridDim.x - 1) out[threadIdx.x] = sum_of_parts();
#else
  __threadfence();
  if (comes_last()) out[threadIdx.x] = sum_of_parts();
#endif
}

// Without a fence, the CTA that arrives last may not see the elements of `parts` that other CTAs
// have stored.
extern "C" __global__ void missing_fence(const float* in, float* out) {
  parts[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
#ifndef BUG
  __threadfence();
#endif
  if (comes_last()) out[threadIdx.x] = sum_of_parts();
}

extern "C" __global__ void fence_of_the_cta(const float* in, float* out) {
  parts[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
#ifdef BUG
  __threadfence_block();
#else
  __threadfence();
#endif
  if (comes_last()) out[threadIdx.x] = sum_of_parts();
}

// An atomicAdd does not order the reads after it; with BUG, no CTA waits until the data are ready.
extern "C" __global__ void claims_and_reads(const float* in, float* out) {
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = atomicAdd(&arrived, 1u) % gridDim.x;
  __syncthreads();
  if (number == 0) {
    parts[threadIdx.x] = in[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ready = 1;
  }
#ifndef BUG
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
  }
  __syncthreads();
#endif
  out[number * 64 + threadIdx.x] = parts[threadIdx.x];
}

extern "C" __global__ void counter_without_atomic(const float* in, float* out) {
  if (threadIdx.x != 0) return;
#ifdef BUG
  out[0] += in[blockIdx.x];
#else
  atomicAdd(out, in[blockIdx.x]);
#endif
}

// With BUG, one CTA sets the elements to which all CTAs add.
extern "C" __global__ void cleared_by_one(const float* in, float* out) {
#ifdef BUG
  if (blockIdx.x == 0) out[threadIdx.x] = 1.0f;
#endif
  atomicAdd(out + threadIdx.x, in[blockIdx.x * 64 + threadIdx.x]);
}

// With BUG, the CTA that stores last determines the result.
extern "C" __global__ void written_by_all(const float* in, float* out) {
#ifdef BUG
  out[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x] + blockIdx.x;
#else
  out[threadIdx.x] = in[threadIdx.x];
#endif
}

// CTAs wait for each other, and then read data of the next CTA; with BUG, without a fence.
extern "C" __global__ void own_grid_barrier(const float* in, float* out) {
  parts[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
#ifndef BUG
  __threadfence();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1u);
    while (*reinterpret_cast<volatile unsigned*>(&arrived) % gridDim.x != 0) {
    }
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = parts[(blockIdx.x * 64 + 64 + threadIdx.x) % 256];
}

// Four CTAs write the four bytes of a word; this is no race, because the bytes are different
// addresses. With BUG, all CTAs write the same byte.
extern "C" __global__ void bytes_side_by_side(const float* in, unsigned char* out) {
#ifdef BUG
  out[threadIdx.x * 4] = static_cast<unsigned char>(in[threadIdx.x] + blockIdx.x * 8);
#else
  out[threadIdx.x * 4 + blockIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);
#endif
}

// With BUG, one CTA writes to addresses that all CTAs read.
extern "C" __global__ void read_by_all(const float* in, float* out) {
  const float value = out[threadIdx.x];
  parts[blockIdx.x * 64 + threadIdx.x] = value + in[threadIdx.x];
#ifdef BUG
  if (blockIdx.x == gridDim.x - 1) out[threadIdx.x] = value + 1;
#endif
}

// One store instruction writes to two buffers; with BUG, all CTAs write the same elements.
extern "C" __global__ void two_buffers(const float* in, float* out) {
  float* place = threadIdx.x % 2 == 0 ? out : parts;
#ifdef BUG
  place[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
#else
  place[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
#endif
}

// A CTA may read data non-atomically, although other CTAs change the data by atomics, if it later
// accesses the data by an atomic, too. With BUG, it reads another CTA's non-atomic store, which is
// a race.
extern "C" __global__ void stale_then_exchanged(const float* in, float* out) {
  if (blockIdx.x == 0) {
#ifdef BUG
    out[threadIdx.x] = in[threadIdx.x] + 10;
#endif
    return;
  }
  parts[blockIdx.x * 64 + threadIdx.x] = out[threadIdx.x];
  atomicExch(out + threadIdx.x, 2.0f);
}

// After a CTA has polled for a value, it may read this value by a non-atomic read, because the
// value does not change any more.
extern "C" __global__ void polled_then_read(const float* in, float* out) {
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1u);
    while (*reinterpret_cast<volatile unsigned*>(&arrived) != gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] * arrived;
}

// With BUG, the last CTA reads a sum before it waits for the CTAs that add to this sum.
extern "C" __global__ void read_before_waiting(const float* in, float* out) {
  if (blockIdx.x < gridDim.x - 1) {
    if (threadIdx.x == 0) {
      atomicAdd(out, in[blockIdx.x]);
      __threadfence();
      atomicAdd(&arrived, 1u);
    }
    return;
  }
  if (threadIdx.x != 0) return;
#ifdef BUG
  out[1] = out[0];
#endif
  while (*reinterpret_cast<volatile unsigned*>(&arrived) != gridDim.x - 1) {
  }
  __threadfence();
  out[2] = out[0];
}

// Computes the maximum of floats by compare-and-swap. An old value in the first read is harmless,
// because the compare-and-swap then fails and is repeated.
extern "C" __global__ void guess_and_swap(const float* in, float* out) {
  int* place = (int*)(out + threadIdx.x % 8);
  const float value = in[blockIdx.x * 64 + threadIdx.x];
  int old = *place;
  while (__int_as_float(old) < value) {
    const int seen = old;
    old = atomicCAS(place, seen, __float_as_int(value));
    if (old == seen) break;
  }
}

// The CTA with the largest index reads the sum, even if other CTAs have not added their values yet.
extern "C" __global__ void sum_read_by_the_last(const float* in, float* out) {
  if (blockIdx.x < gridDim.x - 1) {
    atomicAdd(out, in[blockIdx.x * 64 + threadIdx.x]);
  } else if (threadIdx.x == 0) {
    out[1] = out[0] * 2;
  }
}

// The first CTA reads an element to which the other CTAs add. With BUG, the other CTAs do not wait
// until the first CTA has read the element.
extern "C" __global__ void reads_first(const float* in, float* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) parts[0] = out[0];
#ifndef BUG
  if (blockIdx.x == 0) {
    __threadfence();
    ready = 1;
  }
  while (ready == 0) {
  }
#endif
  if (blockIdx.x > 0) atomicAdd(out, in[blockIdx.x]);
}

// With BUG, no fence separates the stores from the ticket that follows them.
__device__ float stored[256];
__device__ void store_part(const float* in) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  stored[i] = in[i];
#ifndef BUG
  __threadfence();
#endif
  __syncthreads();
}
__device__ void read_parts_by_volatile(float* out) {
  for (unsigned j = threadIdx.x; j < 256; j += 64)
    out[j] = static_cast<volatile float*>(stored)[j];
}

// The last CTA reads what the others have stored.
__device__ unsigned finished;
extern "C" __global__ void last_reads_by_volatile(const float* in, float* out) {
  __shared__ bool is_last;
  store_part(in);
  if (threadIdx.x == 0) is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (is_last) read_parts_by_volatile(out);
}

// As last_reads_by_volatile, but the ticket is an atomic without a result, and CTA 0 waits until
// all CTAs have added to it.
__device__ unsigned counted;
extern "C" __global__ void one_waits_and_reads_by_volatile(const float* in, float* out) {
  store_part(in);
  if (threadIdx.x == 0) atomicAdd(&counted, 1);
  if (blockIdx.x != 0) return;
  if (threadIdx.x == 0) {
    while (*static_cast<volatile unsigned*>(&counted) % gridDim.x != 0) {
    }
  }
  __syncthreads();
  read_parts_by_volatile(out);
}

// CTA 0 waits for a counter and then, by volatile reads, for flags. Each CTA sets its flag by a
// plain store before it changes the counter. The fence before the flags orders the data, so no
// fence is needed between a flag and the counter.
__device__ int flags[4];
__device__ unsigned statistics;
extern "C" __global__ void plain_flags_beside_a_counter(const float* in, float* out) {
  store_part(in);
  if (threadIdx.x == 0) {
    flags[blockIdx.x] = 1;
    atomicAdd(&statistics, 1);
  }
  if (blockIdx.x != 0) return;
  if (threadIdx.x < 4) {
    while (*static_cast<volatile unsigned*>(&statistics) < 2) {
    }
    while (static_cast<volatile int*>(flags)[threadIdx.x] == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  read_parts_by_volatile(out);
}
