// Kernels whose lanes execute one .sync instruction with different member masks. Each kernel runs
// 64 threads and computes out[i] = 2 * in[i]. With BUG, masks or barriers are wrong, or lanes that
// exchange data do not synchronise.

__device__ unsigned tile_mask(unsigned lanes) {
  const unsigned lane = threadIdx.x % 32;
  return (lanes == 32 ? ~0u : (1u << lanes) - 1) << (lane / lanes * lanes);
}

// Two halves of a warp shuffle in one instruction, each with its own mask.
extern "C" __global__ void halves_shuffle(const float* in, float* out) {
#ifdef BUG
  const unsigned mask = ~tile_mask(16);
#else
  const unsigned mask = tile_mask(16);
#endif
  const float there = __shfl_xor_sync(mask, in[threadIdx.x], 8);
  out[threadIdx.x] = 2 * __shfl_xor_sync(mask, there, 8);
}

// Tiles of 8 lanes pass data through shared memory.
extern "C" __global__ void tiles_share(const float* in, float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = in[threadIdx.x];
  __syncwarp(tile_mask(8));
#ifdef BUG
  const unsigned other = 8;
#else
  const unsigned other = 4;
#endif
  out[threadIdx.x ^ other] = 2 * values[threadIdx.x ^ other];
}

// After a tile of 16 lanes has synchronised, it sees accesses that its tiles of 4 lanes made
// before.
extern "C" __global__ void tiles_grow(const float* in, float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = in[threadIdx.x];
  __syncwarp(tile_mask(4));
#ifdef BUG
  __syncwarp(tile_mask(8));
#else
  __syncwarp(tile_mask(16));
#endif
  out[threadIdx.x ^ 15] = 2 * values[threadIdx.x ^ 15];
}

// All lanes of a tile read a value before one lane of the tile overwrites the value.
extern "C" __global__ void tiles_overwrite(const float* in, float* out) {
  __shared__ float first[8];
  const unsigned tile = threadIdx.x / 8;
  if (threadIdx.x % 8 == 0) first[tile] = 2;
  __syncthreads();
  out[threadIdx.x] = first[tile] * in[threadIdx.x];
  __syncwarp(tile_mask(8));
#ifdef BUG
  if (threadIdx.x % 32 == 31) first[tile ^ 1] = 3;
#else
  if (threadIdx.x % 8 == 7) first[tile] = 3;
#endif
}

// A lane waits until every lane that its mask names arrives with the same mask.
extern "C" __global__ void masks_agree(const float* in, float* out) {
  const unsigned pair = tile_mask(2);
#ifdef BUG
  const unsigned mask = threadIdx.x % 2 == 0 ? pair : 1u << threadIdx.x % 32;
#else
  const unsigned mask = pair;
#endif
  const float there = __shfl_xor_sync(mask, in[threadIdx.x], threadIdx.x < 64 ? 1 : 0);
  __syncwarp();
  out[threadIdx.x ^ 1] = 2 * there;
}

// Lanes with equal labels reduce together; such lanes need not be neighbours.
extern "C" __global__ void labels_reduce(const float* in, float* out) {
  const unsigned label = threadIdx.x % 3;
  unsigned mask = __match_any_sync(~0u, label);
#ifdef BUG
  if (threadIdx.x == 7) mask |= 1;
#endif
  const unsigned sum = __reduce_add_sync(mask, label + 1);
  const unsigned largest = __reduce_max_sync(mask, threadIdx.x);
  const bool is_good = sum == (label + 1) * __popc(mask) && __all_sync(mask, largest % 3 == label);
  out[threadIdx.x] = is_good ? 2 * in[threadIdx.x] : 0;
}

// The tiles of a warp run 2, 4, 6 and 8 iterations.
extern "C" __global__ void tiles_go_round(const float* in, float* out) {
  float value = in[threadIdx.x];
  const unsigned rounds = threadIdx.x % 32 / 8 * 2 + 2;
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#ifdef BUG
    value = __shfl_xor_sync(~0u, value, 5);
#else
    value = __shfl_xor_sync(tile_mask(8), value, 5);
#endif
  }
  __syncwarp();
  out[threadIdx.x] = 2 * value;
}

// Half of the warp has exited; masks may still name the exited lanes.
extern "C" __global__ void half_has_exited(const float* in, float* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];
#ifdef BUG
  if (threadIdx.x % 32 >= 16) __syncwarp(~0u);
#endif
  if (threadIdx.x % 32 >= 16) return;
  float value = __shfl_xor_sync(tile_mask(8) | ~0xffffu, in[threadIdx.x], 3);
  value = __shfl_xor_sync(tile_mask(8), value, 3);
  out[threadIdx.x] = 2 * value;
}

// Lanes may synchronise by different instructions with the same member mask.
extern "C" __global__ void two_warp_barriers(const float* in, float* out) {
  __shared__ float values[64];
  if (threadIdx.x % 2 == 0) {
    values[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    out[threadIdx.x ^ 1] = 2 * values[threadIdx.x ^ 1];
  } else {
    values[threadIdx.x] = in[threadIdx.x];
#ifdef BUG
    out[threadIdx.x ^ 1] = 2 * values[threadIdx.x ^ 1];
#endif
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    out[threadIdx.x ^ 1] = 2 * values[threadIdx.x ^ 1];
  }
}

// The lanes of a warp may execute different barrier.sync instructions, but not different
// barrier.sync.aligned instructions.
extern "C" __global__ void two_cta_barriers(const float* in, float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = in[threadIdx.x];
#ifdef BUG
  if (threadIdx.x == 5) {
    asm volatile("barrier.sync.aligned 0;" ::: "memory");
  } else {
    asm volatile("bar.sync 0;" ::: "memory");
  }
#else
  if (threadIdx.x == 5) {
    asm volatile("barrier.sync 0;" ::: "memory");
  } else {
    asm volatile("barrier.cta.sync 0;" ::: "memory");
  }
#endif
  out[threadIdx.x ^ 33] = 2 * values[threadIdx.x ^ 33];
}
