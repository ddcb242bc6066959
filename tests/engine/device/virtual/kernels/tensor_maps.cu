// Kernels that copy by tensor maps; tensor_map_test.cpp computes where each element must be.

struct alignas(64) TensorMap {
  u64 opaque[16];
};
constexpr int kDumped = 8192;

__device__ __forceinline__ u32 start(unsigned char* tile, u64* ready, u32 bytes) {
  for (int i = threadIdx.x; i < kDumped / 4; i += blockDim.x) reinterpret_cast<u32*>(tile)[i] = 0xabababab;
  if (threadIdx.x == 0) init_barrier(ready, 1);
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) expect_bytes(ready, bytes);
  return shared_address(tile);
}

__device__ __forceinline__ void dump(unsigned char* out, const unsigned char* tile, u64* ready) {
  wait(ready, 0);
  for (int i = threadIdx.x; i < kDumped; i += blockDim.x) out[i] = tile[i];
}

#define TILE                                            \
  __shared__ alignas(1024) unsigned char tile[kDumped]; \
  __shared__ alignas(8) u64 ready;                      \
  const u32 to = start(tile, &ready, bytes);

#define LOAD(kind, coordinates, barrier)                                                         \
  asm volatile("cp.async.bulk.tensor." kind                                                      \
               ".mbarrier::complete_tx::bytes [%0], [%1, {" coordinates "}], [%2];" ::"r"(to),   \
               "l"(&map), "r"(shared_address(barrier)), "r"(c.x), "r"(c.y), "r"(c.z), "r"(c.w), "r"(last) \
               : "memory")

extern "C" __global__ void load_1d(unsigned char* out, const __grid_constant__ TensorMap map, int4 c, int last, int bytes) {
  TILE
  if (threadIdx.x == 0) LOAD("1d.shared::cluster.global.tile", "%3", &ready);
  dump(out, tile, &ready);
}
extern "C" __global__ void load_2d(unsigned char* out, const __grid_constant__ TensorMap map, int4 c, int last, int bytes) {
  TILE
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
  if (threadIdx.x == 0) LOAD("2d.shared::cta.global", "%3, %4", &ready);
  dump(out, tile, &ready);
}
extern "C" __global__ void load_3d(unsigned char* out, const __grid_constant__ TensorMap map, int4 c, int last, int bytes) {
  TILE
  if (threadIdx.x == 0) LOAD("3d.shared::cluster.global.tile", "%3, %4, %5", &ready);
  dump(out, tile, &ready);
}
extern "C" __global__ void load_4d(unsigned char* out, const __grid_constant__ TensorMap map, int4 c, int last, int bytes) {
  TILE
  if (threadIdx.x == 0) LOAD("4d.shared::cluster.global.tile", "%3, %4, %5, %6", &ready);
  dump(out, tile, &ready);
}
extern "C" __global__ void load_5d(unsigned char* out, const __grid_constant__ TensorMap map, int4 c, int last, int bytes) {
  TILE
  if (threadIdx.x == 0) LOAD("5d.shared::cluster.global.tile", "%3, %4, %5, %6, %7", &ready);
  dump(out, tile, &ready);
}

// Loads a box of one tensor and stores it at the same coordinates of another tensor.
extern "C" __global__ void move_2d(const __grid_constant__ TensorMap map, const __grid_constant__ TensorMap target, int4 c, int last, int bytes) {
  TILE
  if (threadIdx.x != 0) return;
  LOAD("2d.shared::cluster.global.tile", "%3, %4", &ready);
  wait(&ready, 0);
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&target), "r"(c.x), "r"(c.y), "r"(to), "l"(0x14f0000000000000ull) : "memory");
  commit();
  wait_written<0>();
}

// The tile in shared memory is not aligned to 128 bytes.
extern "C" __global__ void load_beside(unsigned char* out, const __grid_constant__ TensorMap map, int4 c, int last, int bytes) {
  TILE
  if (threadIdx.x == 0) {
    const u32 to = shared_address(tile) + 64;
    LOAD("2d.shared::cluster.global.tile", "%3, %4", &ready);
  }
  dump(out, tile, &ready);
}
extern "C" __global__ void load_by_no_map(unsigned char* out, const __grid_constant__ TensorMap given, int4 c, int last, int bytes) {
  TILE
  const u64& map = *reinterpret_cast<const u64*>(out);
  if (threadIdx.x == 0) LOAD("2d.shared::cluster.global.tile", "%3, %4", &ready);
  dump(out, tile, &ready);
}
