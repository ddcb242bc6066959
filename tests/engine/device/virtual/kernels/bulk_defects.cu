// Each kernel has one defect with -DBUG and none without.

#ifdef BUG
#define RIGHT(...)
#define WRONG(...) __VA_ARGS__
#else
#define RIGHT(...) __VA_ARGS__
#define WRONG(...)
#endif

constexpr int kTile = 128;

#define SETUP(count)                      \
  __shared__ alignas(128) float tile[kTile]; \
  __shared__ alignas(8) u64 ready;        \
  const int t = threadIdx.x;              \
  if (t == 0) init_barrier(&ready, count); \
  __syncthreads();

#define LOAD()                              \
  if (t == 0) {                             \
    expect_bytes(&ready, sizeof(tile));     \
    bulk_load(tile, in, sizeof(tile), &ready); \
  }

#define FILL()          \
  tile[t] = in[t];      \
  fence_proxy();        \
  __syncthreads();

extern "C" __global__ void reads_before_the_phase(float* out, const float* in) {
  SETUP(1)
  LOAD()
  WRONG(out[t] = tile[t];)
  wait(&ready, 0);
  out[t] = tile[t];
}

extern "C" __global__ void only_one_warp_waits(float* out, const float* in) {
  SETUP(1)
  LOAD()
  RIGHT(wait(&ready, 0);)
  WRONG(if (t < 32) wait(&ready, 0);)
  out[t] = tile[t];
}

extern "C" __global__ void barrier_before_the_wait(float* out, const float* in) {
  SETUP(1)
  LOAD()
  WRONG(__syncthreads();)
  if (t < 32) wait(&ready, 0);
  RIGHT(__syncthreads();)
  out[t] = tile[t];
}

extern "C" __global__ void waits_for_the_other_barrier(float* out, const float* in) {
  SETUP(1)
  __shared__ alignas(128) float second[kTile];
  __shared__ alignas(8) u64 other;
  if (t == 0) init_barrier(&other, 1);
  __syncthreads();
  LOAD()
  if (t == 0) {
    expect_bytes(&other, sizeof(second));
    bulk_load(second, in, sizeof(second), &other);
  }
  if (t >= 64) wait(&ready, 0);
  wait(&other, 0);
  RIGHT(wait(&ready, 0);)
  out[t] = tile[t] + second[t];
}

extern "C" __global__ void loads_over_a_tile_in_use(float* out, const float* in) {
  SETUP(1)
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[t ^ 1];
  RIGHT(__syncthreads();)
  LOAD()
  wait(&ready, 0);
  out[t] += tile[t];
}

extern "C" __global__ void overwrites_the_source(float* out, const float* in) {
  SETUP(1)
  FILL()
  if (t == 0) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    RIGHT(wait_read<0>();)
    tile[5] = 1.0f;
    wait_read<0>();
  }
}

extern "C" __global__ void waits_for_the_group_before(float* out, const float* in) {
  SETUP(1)
  FILL()
  if (t == 0) {
    bulk_store(out, tile, 64);
    commit();
    bulk_store(out + 16, tile + 16, sizeof(tile) - 64);
    commit();
    RIGHT(wait_read<0>();)
    WRONG(wait_read<1>();)
    tile[100] = 1.0f;
    wait_read<0>();
  }
}

extern "C" __global__ void other_threads_overwrite_the_source(float* out, const float* in) {
  SETUP(1)
  FILL()
  if (t == 0) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    wait_read<0>();
  }
  RIGHT(__syncthreads();)
  tile[t] = 3.0f;
}

extern "C" __global__ void proxy_fence_skipped_by_a_warp(float* out, const float* in) {
  SETUP(1)
  tile[t] = in[t];
  RIGHT(fence_proxy();)
  WRONG(if (t < 96) fence_proxy();)
  __syncthreads();
  if (t == 64) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    wait_read<0>();
  }
}

extern "C" __global__ void no_proxy_fence_at_all(float* out, const float* in) {
  SETUP(1)
  tile[t] = in[t];
  RIGHT(fence_proxy();)
  __syncthreads();
  if (t == 0) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    wait_read<0>();
  }
}

extern "C" __global__ void expects_too_many_bytes(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    expect_bytes(&ready, sizeof(tile) RIGHT(+0) WRONG(+64));
    bulk_load(tile, in, sizeof(tile), &ready);
  }
  wait(&ready, 0);
  out[t] = tile[t];
}

extern "C" __global__ void expects_too_few_bytes(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    expect_bytes(&ready, sizeof(tile) WRONG(-64));
    bulk_load(tile, in, sizeof(tile), &ready);
  }
  wait(&ready, 0);
  out[t] = tile[t];
}

extern "C" __global__ void expects_beyond_the_counter(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    WRONG(expect_bytes(&ready, 1 << 20);)
    RIGHT(expect_bytes(&ready, sizeof(tile));)
    bulk_load(tile, in, sizeof(tile), &ready);
  }
  wait(&ready, 0);
  out[t] = tile[t];
}

extern "C" __global__ void store_left_pending(float* out, const float* in) {
  SETUP(1)
  FILL()
  if (t == 0) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    RIGHT(wait_read<0>();)
  }
}

extern "C" __global__ void store_never_committed(float* out, const float* in) {
  SETUP(1)
  FILL()
  if (t == 0) {
    bulk_store(out, tile, sizeof(tile));
    RIGHT(commit();)
    wait_read<0>();
  }
}

extern "C" __global__ void load_left_pending(float* out, const float* in) {
  SETUP(1)
  LOAD()
  RIGHT(wait(&ready, 0);)
  out[t] = in[t];
}

extern "C" __global__ void size_not_a_multiple(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    const u32 bytes = sizeof(tile) WRONG(-8);
    expect_bytes(&ready, bytes);
    bulk_load(tile, in, bytes, &ready);
  }
  wait(&ready, 0);
  out[t] = t < 64 ? tile[t] : 0.0f;
}

extern "C" __global__ void misaligned_tile(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    expect_bytes(&ready, 64);
    bulk_load(tile RIGHT(+4) WRONG(+2), in, 64, &ready);
  }
  wait(&ready, 0);
  out[t] = in[t];
}

extern "C" __global__ void reads_past_the_end(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    expect_bytes(&ready, sizeof(tile));
    bulk_load(tile, in WRONG(+4), sizeof(tile), &ready);
  }
  wait(&ready, 0);
  out[t] = tile[t];
}

extern "C" __global__ void stores_unwritten_bytes(float* out, const float* in) {
  SETUP(1)
  RIGHT(tile[t] = in[t];)
  WRONG(if (t != 77) tile[t] = in[t];)
  fence_proxy();
  __syncthreads();
  if (t == 0) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    wait_read<0>();
  }
}

extern "C" __global__ void uses_no_barrier(float* out, const float* in) {
  SETUP(1)
  if (t == 0) {
    expect_bytes(&ready, sizeof(tile));
    bulk_load(tile, in, sizeof(tile), &ready WRONG(+1));
  }
  RIGHT(wait(&ready, 0);)
  out[t] = in[t];
}

// The second CTA reads data that the first CTA stores; with BUG, possibly before the store.
__device__ int is_stored = 0;
extern "C" __global__ void signals_before_the_store_is_written(float* out, const float* in) {
  SETUP(1)
  FILL()
  if (blockIdx.x == 0 && t == 0) {
    bulk_store(out, tile, sizeof(tile));
    commit();
    RIGHT(wait_written<0>();)
    WRONG(wait_read<0>();)
    __threadfence();
    atomicExch(&is_stored, 1);
  }
  if (blockIdx.x == 0) return;
  if (t == 0) {
    while (atomicAdd(&is_stored, 0) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  out[kTile + t] = out[t];
}

// With BUG, both CTAs store to the same address.
extern "C" __global__ void stores_where_another_cta_does(float* out, const float* in) {
  SETUP(1)
  tile[t] = in[t] + blockIdx.x;
  fence_proxy();
  __syncthreads();
  if (t == 0) {
    bulk_store(out RIGHT(+blockIdx.x * kTile), tile, sizeof(tile));
    commit();
    wait_read<0>();
  }
}

// One lane of each warp waits for a copy that all lanes read; with BUG, without __syncwarp().
extern "C" __global__ void one_lane_of_a_warp_waits(float* out, const float* in) {
  SETUP(1)
  LOAD()
  if (t % 32 == 0) wait(&ready, 0);
  RIGHT(__syncwarp();)
  out[t] = tile[t];
}

// One lane of each warp stores what all its lanes wrote; with BUG, without __syncwarp().
extern "C" __global__ void one_lane_stores_for_its_warp(float* out, const float* in) {
  SETUP(1)
  tile[t] = in[t];
  fence_proxy();
  RIGHT(__syncwarp();)
  if (t % 32 == 0) {
    bulk_store(out + t, tile + t, 128);
    commit();
    wait_read<0>();
  }
}

// Threads 0 and 64 arrive; with BUG, only thread 0.
extern "C" __global__ void an_arrival_is_missing(float* out, const float* in) {
  SETUP(2)
  tile[t] = in[t];
  __syncthreads();
  if (t == 0 RIGHT(|| t == 64)) arrive(&ready);
  wait(&ready, 0);
  out[t] = tile[t ^ 32];
}

// The consumers free the tile by `empty`; with BUG, the producer waits for a phase of `empty` that
// nobody completes, because it should start with the opposite parity.
extern "C" __global__ void waits_for_the_wrong_parity(float* out, const float* in) {
  SETUP(1)
  __shared__ alignas(8) u64 empty;
  if (t == 0) init_barrier(&empty, kTile - 32);
  __syncthreads();
  const u32 first = 1 WRONG(- 1);
  for (u32 step = 0; step < 4; ++step) {
    if (t < 32) {
      wait(&empty, (step & 1) ^ first);
      if (t == 0) {
        expect_bytes(&ready, sizeof(tile));
        bulk_load(tile, in, sizeof(tile), &ready);
      }
    } else {
      wait(&ready, step & 1);
      out[t] = step + tile[t];
      arrive(&empty);
    }
  }
}
