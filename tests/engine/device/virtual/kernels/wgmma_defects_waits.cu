// Kernels that, with BUG, read the result or overwrite the operands of a product too early, as
// their comments describe. Tests compile this file together with wgmma_defects.cuh.

// The kernel reads an accumulator before it waits for the product.
KERNEL reads_accumulator_early(const float* in, float* out, int n) {
  PREPARE
  multiply(d, tiles);
  commit();
#ifdef BUG
  out[threadIdx.x] = d[0];
  wait<0>();
#else
  wait<0>();
  keep(d);
  out[threadIdx.x] = d[0];
#endif
}

// Two products are in flight, but the kernel waits only for the first.
KERNEL waits_for_the_group_before(const float* in, float* out, int n) {
  PREPARE
  float e[4] = {};
  keep(e);
  fence();
  multiply(d, tiles);
  commit();
  multiply(e, tiles);
  commit();
#ifdef BUG
  wait<1>();
#else
  wait<0>();
#endif
  keep(d);
  out[threadIdx.x] = sum(d) + e[0];
  wait<0>();
}

// A register of A is overwritten while the product may still read it.
KERNEL overwrites_fragment_early(const float* in, float* out, int n) {
  PREPARE
  u32 a = 0x3c003c00;
  asm volatile(
      "{ .reg .b32 a; mov.b32 a, %4; wgmma.fence.sync.aligned; "
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {a, a, a, a}, %5, 1, 1, 1, 0; "
      "wgmma.commit_group.sync.aligned; "
#ifdef BUG
      "mov.b32 a, 0; wgmma.wait_group.sync.aligned 0; }"
#else
      "wgmma.wait_group.sync.aligned 0; mov.b32 a, 0; }"
#endif
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a), "l"(place(tiles.b, 128))
      : "memory");
  out[threadIdx.x] = sum(d);
}

// The kernel stores the next tile over the tile that a product in flight reads.
KERNEL overwrites_tile_early(const float* in, float* out, int n) {
  PREPARE
  multiply(d, tiles);
  commit();
#ifndef BUG
  wait<0>();
#endif
  __syncthreads();
  tiles.b[0][threadIdx.x / 16][threadIdx.x % 8] = 0x3c00;
#ifdef BUG
  wait<0>();
#endif
  keep(d);
  out[threadIdx.x] = sum(d);
}

// Two products read the tile, and the kernel overwrites the tile when only the first is done.
KERNEL overwrites_tile_of_the_second(const float* in, float* out, int n) {
  PREPARE
  float e[4] = {};
  keep(e);
  fence();
  multiply(d, tiles);
  commit();
  multiply(e, tiles);
  commit();
#ifdef BUG
  wait<1>();
#else
  wait<0>();
#endif
  __syncthreads();
  tiles.b[0][threadIdx.x / 16][threadIdx.x % 8] = 0x3c00;
  wait<0>();
  keep(d);
  keep(e);
  out[threadIdx.x] = sum(d) + sum(e);
}

// cp.async by another warp overwrites the tile that a product in flight reads.
KERNEL copies_over_tile_early(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  fill(tiles, in);
  fence_proxy();
  __syncthreads();
  float d[4] = {};
  keep(d);
  if (threadIdx.x < 128) {
    fence();
    multiply(d, tiles);
    commit();
#ifndef BUG
    wait<0>();
#endif
  }
  __syncthreads();
  if (threadIdx.x == 128) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SHARED(tiles.a)), "l"(in) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
#ifdef BUG
  if (threadIdx.x < 128) wait<0>();
#endif
  keep(d);
  out[threadIdx.x] = sum(d);
}
