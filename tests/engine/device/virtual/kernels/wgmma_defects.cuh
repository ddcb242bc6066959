// Helpers of the kernels in wgmma_defects_fences.cu and wgmma_defects_waits.cu. With BUG, each
// kernel contains the error that its comment describes; without BUG, it is right. Each kernel runs
// with one CTA, reads n floats, and writes a float for each thread. A is a matrix of 64 by 16 f16,
// B a matrix of 16 by 8; both are stored without a swizzle.
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned short u16;

#define SHARED(pointer) static_cast<u32>(__cvta_generic_to_shared(pointer))
#define KERNEL extern "C" __global__ void

struct Tiles {
  u16 a[2][64][8];  // [k / 8][row][k % 8]
  u16 b[2][8][8];
};

__device__ __forceinline__ u16 half_of(float value) {
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
/// Fills every element of both tiles from the values of `in`.
__device__ __forceinline__ void fill(Tiles& tiles, const float* in) {
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) (&tiles.a[0][0][0])[i] = half_of(in[i % 128]);
  for (u32 i = threadIdx.x; i < 128; i += blockDim.x) (&tiles.b[0][0][0])[i] = half_of(in[i]);
}
__device__ __forceinline__ void fence_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ u64 place(const void* tile, u32 leading) {
  return (SHARED(tile) & 0x3FFFF) >> 4 | static_cast<u64>(leading >> 4) << 16 |
         static_cast<u64>(128 >> 4) << 32;
}
__device__ __forceinline__ void multiply(float (&d)[4], u64 a, u64 b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b)
      : "memory");
}
__device__ __forceinline__ void multiply(float (&d)[4], const Tiles& tiles) {
  multiply(d, place(tiles.a, 1024), place(tiles.b, 128));
}
/// Prevents the compiler from moving writes of the accumulators across this point.
__device__ __forceinline__ void keep(float (&d)[4]) {
  asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
}
__device__ __forceinline__ float sum(const float (&d)[4]) { return d[0] + d[1] + d[2] + d[3]; }

/// Fills tiles of A and B, clears the accumulators d, and executes a proxy fence and wgmma.fence.
#define PREPARE                          \
  __shared__ __align__(1024) Tiles tiles; \
  fill(tiles, in);                        \
  fence_proxy();                          \
  __syncthreads();                        \
  float d[4] = {};                        \
  keep(d);                                \
  fence();
