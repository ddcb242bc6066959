// Kernels with bulk copies or their mbarriers; bulk_copies_test.cpp knows the expected results.

constexpr int kTile = 256;

// One warp loads tiles into a ring of two tiles; four warps add 1 to each value.
extern "C" __global__ void ring(float* out, const float* in, int tiles) {
  __shared__ alignas(128) float stage[2][kTile];
  __shared__ alignas(8) u64 full[2];
  __shared__ alignas(8) u64 empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      init_barrier(&full[s], 1);
      init_barrier(&empty[s], 128);
    }
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (!elected()) return;
    for (int t = 0; t < tiles; ++t) {
      const int s = t % 2;
      wait(&empty[s], (t / 2 + 1) % 2);
      expect_bytes(&full[s], sizeof(stage[s]));
      bulk_load(stage[s], in + t * kTile, sizeof(stage[s]) / 2, &full[s]);
      bulk_load(stage[s] + kTile / 2, in + t * kTile + kTile / 2, sizeof(stage[s]) / 2, &full[s]);
    }
    return;
  }
  for (int t = 0; t < tiles; ++t) {
    const int s = t % 2;
    wait(&full[s], t / 2 % 2);
    for (int i = threadIdx.x; i < kTile; i += 128) out[t * kTile + i] = stage[s][i] + 1.0f;
    arrive(&empty[s]);
  }
}

// Each CTA stores a tile of doubled values from shared memory by two bulk groups.
extern "C" __global__ void doubled(float* out, const float* in, int) {
  __shared__ alignas(16) float tile[kTile];
  const int first = blockIdx.x * kTile;
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = 2.0f * in[first + i];
  fence_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  bulk_store(out + first, tile, 128);
  commit();
  bulk_store(out + first + 32, tile + 32, sizeof(tile) - 128);
  commit();
  wait_read<1>();
  tile[0] = 0;  // the first group has been read
  wait_written<0>();
}

// One thread copies each tile in and out by bulk copies, changes an element, and copies the tile
// out again. A single thread needs a proxy fence, but no __syncthreads().
extern "C" __global__ void through(float* out, const float* in, int) {
  __shared__ alignas(16) float tile[kTile];
  __shared__ alignas(8) u64 barrier;
  if (threadIdx.x != 0) return;
  init_barrier(&barrier, 1);
  for (int t = 0; t < 3; ++t) {
    expect_bytes(&barrier, sizeof(tile));
    bulk_load(tile, in + t * kTile, sizeof(tile), &barrier);
    wait(&barrier, t % 2);
    bulk_store(out + t * kTile, tile, sizeof(tile));
    commit();
    wait_read<0>();
    tile[t] = 7.0f;
    fence_proxy();
    bulk_store(out + (3 + t) * kTile, tile, sizeof(tile));
    commit();
    wait_written<0>();
  }
}

// Changes the transaction count of an mbarrier by instructions of several forms, without copies.
extern "C" __global__ void counted_by_hand(float* out, const float* in, int) {
  __shared__ float sum;
  __shared__ alignas(8) u64 barrier;
  const u32 place = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(&barrier, 3);
  __syncthreads();
  u64 state = 0;
  if (threadIdx.x == 0) {
    sum = in[0];
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(place) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(place) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 1;" ::"r"(place) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 48;" ::"r"(place) : "memory");
  }
  if (threadIdx.x == 64) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(place) : "memory");
    asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 32;" ::"r"(place) : "memory");
  }
  u32 done = 0;
  while (threadIdx.x == 0 && done == 0) {
    asm volatile("{.reg .pred p; mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(place), "l"(state) : "memory");
  }
  while (done == 0) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(place) : "memory");
  }
  out[threadIdx.x] = sum;
}
