// With BUG, each kernel accesses data wrongly, as its comment describes: too early, too late or out
// of bounds, or it uses unwritten data. Tests compile this file together with defects.cuh.

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

// Lanes of one warp exchange data through shared memory without __syncwarp.
extern "C" __global__ void missing_syncwarp(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
#ifndef BUG
  __syncwarp();
#endif
  out[t] = tile[t ^ 1];
}

// With BUG, wait_prior(1) does not wait for the copy of the last tile, because no newer group was
// committed.
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

// No thread waits for the asynchronous copy.
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

// Every thread waits for its own copies, but not for those of other threads.
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

// The part of the last tile beyond the end of the data is not masked.
extern "C" __global__ void unmasked_tail(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < (n + 47) / 48 * 48; i += blockDim.x) {
#ifndef BUG
    if (i < n)
#endif
      out[i] = in[i] * 2;
  }
}

// The kernel reads one element beyond the end of the input.
extern "C" __global__ void off_by_one(const float* in, float* out, int n) {
  const int t = threadIdx.x;
#ifdef BUG
  const int next = t + 1;
#else
  const int next = t + 1 < n ? t + 1 : t;
#endif
  out[t] = in[t] + in[next];
}

// Rows in shared memory are padded to 20 floats, but the rows of 16 floats are copied contiguously,
// so some rows are never filled.
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

// The maximum that atomics update has no first value.
extern "C" __global__ void uninitialised_maximum(const float* in, float* out, int n) {
  __shared__ int largest;
  const int t = threadIdx.x;
#ifndef BUG
  if (t == 0) largest = 0;
#endif
  __syncthreads();
  atomicMax(&largest, (int)in[t]);
  __syncthreads();
  out[t] = (float)largest;
}

// The first thread that takes the ticket is the leader. With BUG, nobody puts the ticket there.
extern "C" __global__ void uninitialised_exchange(const float* in, float* out, int n) {
  __shared__ int ticket;
  const int t = threadIdx.x;
#ifndef BUG
  if (t == 0) ticket = 1;
#endif
  __syncthreads();
  out[t] = in[t];
  if (atomicExch(&ticket, 0) == 1) out[0] = n;
}

// An atomic exchange of which nobody uses the result initialises its target.
extern "C" __global__ void exchange_initialises(const float* in, float* out, int n) {
  __shared__ int total;
  const int t = threadIdx.x;
#ifdef BUG
  atomicAdd(&total, n);
#else
  atomicExch(&total, n);
#endif
  __syncthreads();
  out[t] = (float)total;
}

// An element that no thread wrote decides a branch.
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

// Half of the elements of an array in local memory are never set.
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

// A flag in shared memory tells the consumer that the data are ready. With BUG, no fence separates
// the data from the flag.
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
