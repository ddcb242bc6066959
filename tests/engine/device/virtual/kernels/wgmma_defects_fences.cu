// With BUG, each kernel has the defect that its comment describes, in fences, barriers, diverging
// warps or registers. Tests compile this file together with wgmma_defects.cuh.

// wgmma reads data stored by threads, with a barrier but no proxy fence in between.
KERNEL missing_proxy_fence(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  fill(tiles, in);
#ifndef BUG
  fence_proxy();
#endif
  __syncthreads();
  float d[4] = {};
  keep(d);
  fence();
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// The proxy fence comes before the stores.
KERNEL proxy_fence_too_early(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
#ifdef BUG
  fence_proxy();
#endif
  fill(tiles, in);
#ifndef BUG
  fence_proxy();
#endif
  __syncthreads();
  float d[4] = {};
  keep(d);
  fence();
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// Only the warps that execute wgmma execute the proxy fence. With BUG, the proxy fence comes before
// the barrier after which the tiles are complete.
KERNEL readers_fence_before_the_barrier(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  if (threadIdx.x >= 128) {
    for (u32 i = threadIdx.x - 128; i < 1024; i += 32) (&tiles.a[0][0][0])[i] = half_of(in[i % 128]);
    for (u32 i = threadIdx.x - 128; i < 128; i += 32) (&tiles.b[0][0][0])[i] = half_of(in[i]);
  }
#ifdef BUG
  if (threadIdx.x < 128) fence_proxy();
#endif
  __syncthreads();
#ifndef BUG
  if (threadIdx.x < 128) fence_proxy();
#endif
  float d[4] = {};
  keep(d);
  if (threadIdx.x < 128) {
    fence();
    multiply(d, tiles);
    commit();
    wait<0>();
  }
  keep(d);
  out[threadIdx.x] = sum(d);
}

// One warp omits the proxy fence for its stores.
KERNEL proxy_fence_skipped_by_a_warp(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  fill(tiles, in);
#ifdef BUG
  if (threadIdx.x / 32 != 2)
#endif
    fence_proxy();
  __syncthreads();
  float d[4] = {};
  keep(d);
  fence();
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// With BUG, the proxy fence is executed before the asynchronous copies have arrived, so it does not
// cover the copies.
KERNEL missing_proxy_fence_after_copy(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  fill(tiles, in);
  __syncthreads();
  if (threadIdx.x < 8) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SHARED(&tiles.b[0][threadIdx.x][0])),
                 "l"(in + 4 * threadIdx.x)
                 : "memory");
  }
#ifdef BUG
  fence_proxy();  // covers the stores, but not the running copies
#endif
  asm volatile("cp.async.wait_all;" ::: "memory");
#ifndef BUG
  fence_proxy();
#endif
  __syncthreads();
  float d[4] = {};
  keep(d);
  fence();
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// wgmma reads the tiles before the barrier that follows the stores.
KERNEL multiplies_before_the_barrier(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  fill(tiles, in);
  fence_proxy();
#ifndef BUG
  __syncthreads();
#endif
  float d[4] = {};
  keep(d);
  fence();
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// The first product has no wgmma.fence before it.
KERNEL missing_first_fence(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  fill(tiles, in);
  fence_proxy();
  __syncthreads();
  float d[4] = {};
  keep(d);
#ifndef BUG
  fence();
#endif
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// Accumulators are scaled between two products without another wgmma.fence.
KERNEL missing_fence_after_scaling(const float* in, float* out, int n) {
  PREPARE
  for (int i = 0; i < n / 64; ++i) {
    multiply(d, tiles);
    commit();
    wait<0>();
    keep(d);
    for (int k = 0; k < 4; ++k) d[k] *= 0.5f;
    keep(d);
#ifndef BUG
    fence();
#endif
  }
  out[threadIdx.x] = sum(d);
}

// The kernel ends without waiting for a product.
KERNEL product_left_pending(const float* in, float* out, int n) {
  PREPARE
  multiply(d, tiles);
  commit();
#ifndef BUG
  wait<0>();
#endif
  out[threadIdx.x] = in[threadIdx.x % n];
}

// The product was never committed, so that waiting for all groups waits for nothing.
KERNEL product_never_committed(const float* in, float* out, int n) {
  PREPARE
  multiply(d, tiles);
#ifndef BUG
  commit();
#endif
  wait<0>();
  out[threadIdx.x] = in[threadIdx.x % n];
}

// One warp of the warpgroup executes a different wgmma instruction from the other warps.
KERNEL warps_part_company(const float* in, float* out, int n) {
  PREPARE
#ifdef BUG
  const bool other = threadIdx.x / 32 == 3;
#else
  const bool other = n == 0;
#endif
  if (other) {
    multiply(d, tiles);
    commit();
    wait<0>();
    keep(d);
    d[0] += 1;
  } else {
    multiply(d, tiles);
    commit();
    wait<0>();
    keep(d);
  }
  out[threadIdx.x] = sum(d);
}

// The warps of a warpgroup execute wgmma with different descriptors.
KERNEL descriptors_differ(const float* in, float* out, int n) {
  PREPARE
#ifdef BUG
  const u32 warp = threadIdx.x / 32;
#else
  const u32 warp = threadIdx.x / 128;
#endif
  multiply(d, place(tiles.a, 1024), place(tiles.b[warp % 2], 128 - 128 * (warp % 2)));
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// A warp of the warpgroup waits at a barrier that the other warps reach only after the product.
KERNEL warp_comes_too_late(const float* in, float* out, int n) {
  PREPARE
#ifdef BUG
  if (threadIdx.x / 32 == 1) __syncthreads();
#else
  __syncthreads();
#endif
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
#ifdef BUG
  if (threadIdx.x / 32 != 1) __syncthreads();
#endif
  out[threadIdx.x] = sum(d);
}

// The fifth of five warps (160 threads) executes wgmma without a complete warpgroup.
KERNEL warpgroup_is_not_whole(const float* in, float* out, int n) {
  PREPARE
#ifndef BUG
  if (threadIdx.x < 128)
#endif
  {
    multiply(d, tiles);
    commit();
    wait<0>();
  }
  keep(d);
  out[threadIdx.x] = sum(d);
}

// Part of a tile was never written.
KERNEL tile_not_filled(const float* in, float* out, int n) {
  __shared__ __align__(1024) Tiles tiles;
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) (&tiles.a[0][0][0])[i] = half_of(in[i % 128]);
#ifdef BUG
  if (threadIdx.x < 127)
#endif
    (&tiles.b[0][0][0])[threadIdx.x] = half_of(in[threadIdx.x]);
  fence_proxy();
  __syncthreads();
  float d[4] = {};
  keep(d);
  fence();
  multiply(d, tiles);
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// The stride of a descriptor leads out of shared memory.
KERNEL descriptor_leads_outside(const float* in, float* out, int n) {
  PREPARE
#ifdef BUG
  multiply(d, place(tiles.a, 1024), place(tiles.b, 200000));
#else
  multiply(d, place(tiles.a, 1024), place(tiles.b, 128));
#endif
  commit();
  wait<0>();
  keep(d);
  out[threadIdx.x] = sum(d);
}

// The registers with the fragment of A are written after wgmma.fence.
KERNEL fragment_written_after_fence(const float* in, float* out, int n) {
  PREPARE
  const u32 a = half_of(in[threadIdx.x % n]) * 0x10001u;
  asm volatile(
      "{ .reg .b32 a; "
#ifdef BUG
      "wgmma.fence.sync.aligned; mov.b32 a, %4; "
#else
      "mov.b32 a, %4; wgmma.fence.sync.aligned; "
#endif
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {a, a, a, a}, %5, 1, 1, 1, 0; "
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a), "l"(place(tiles.b, 128))
      : "memory");
  out[threadIdx.x] = sum(d);
}

// Three of four warpgroups ask for more registers than the fourth gives back (512 threads).
KERNEL __launch_bounds__(512, 1) registers_oversubscribed(const float* in, float* out, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 96;");
  } else {
#ifdef BUG
    asm volatile("setmaxnreg.inc.sync.aligned.u32 144;");
#else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 136;");
#endif
  }
  out[threadIdx.x] = in[threadIdx.x % n];
}
