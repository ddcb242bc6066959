// Computes one product D[64][N] = A[64][K] · B[N][K]ᵀ + C by wgmma, in STEPS steps of 32 bytes of
// K. wgmma_source.cpp defines these macros:
//   ELEMENT_BYTES, the size of an element: 1 or 2; N; STEPS; SWIZZLE: 0, 32, 64 or 128 bytes (if K
//   is contiguous, the size of a row of K in bytes is a multiple of SWIZZLE);
//   A_PLACE: 0 for registers, 1 for shared memory with contiguous K, 2 with contiguous M;
//   B_N_MAJOR: 1 if N is contiguous, else 0; PRODUCT(d, a, place_a, place_b, scale): the wgmma.
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;

constexpr int kStepBytes = 32;
constexpr int kK = STEPS * kStepBytes / ELEMENT_BYTES;
constexpr u32 kRowBytes = SWIZZLE == 0 ? 16 : SWIZZLE;  ///< bytes in a row of the pattern
constexpr u32 kMode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : SWIZZLE == 32 ? 3 : 0;

/// Applies the swizzle to an offset: swaps chunks of 16 bytes within rows of kRowBytes.
__device__ u32 permuted(u32 address) {
  return address ^ ((address >> 7) & (kRowBytes / 16 - 1)) << 4;
}

/// Offset of byte `k_byte` of row `row`, if K is contiguous. The tile is stored in panels, each
/// with kRowBytes of K from all `rows` rows.
__device__ u32 k_major(u32 rows, u32 row, u32 k_byte) {
  return permuted(k_byte / kRowBytes * rows * kRowBytes + row * kRowBytes + k_byte % kRowBytes);
}

/// Offset of byte `row_byte` along M or N, at index k along K, if M or N is contiguous. The tile is
/// stored in panels, each with kRowBytes of M or N at all k.
__device__ u32 mn_major(u32 row_byte, u32 k) {
  return permuted(row_byte / kRowBytes * kK * kRowBytes + k * kRowBytes + row_byte % kRowBytes);
}

__device__ void store(u8* tile, const u8* matrix, u32 rows, bool contiguous_rows) {
  for (u32 i = threadIdx.x; i < rows * kK * ELEMENT_BYTES; i += blockDim.x) {
    const u32 row = i / (kK * ELEMENT_BYTES), k_byte = i % (kK * ELEMENT_BYTES);
    const u32 part = k_byte % ELEMENT_BYTES;
    tile[contiguous_rows ? mn_major(row * ELEMENT_BYTES + part, k_byte / ELEMENT_BYTES)
                         : k_major(rows, row, k_byte)] = matrix[i];
  }
}

/// The descriptor of a tile for one step. A step takes 16 elements of K if M or N is contiguous,
/// otherwise 32 bytes of K.
__device__ u64 place(const u8* tile, u32 rows, bool contiguous_rows, u32 step) {
  u32 start = static_cast<u32>(__cvta_generic_to_shared(tile));
  u32 leading = 16, stride = 8 * kRowBytes;
  if (contiguous_rows) {
    start += step * 16 * kRowBytes;
    leading = kK * kRowBytes;
    if (SWIZZLE == 0) leading = 8 * kRowBytes, stride = kK * kRowBytes;
  } else {
    const u32 byte = step * kStepBytes;
    start += byte / kRowBytes * rows * kRowBytes + byte % kRowBytes;
    if (SWIZZLE == 0) leading = rows * kRowBytes;
  }
  return static_cast<u64>(start >> 4) | static_cast<u64>(leading >> 4) << 16 |
         static_cast<u64>(stride >> 4) << 32 | static_cast<u64>(kMode) << 62;
}

/// Loads the fragment of A. With g = lane / 4 and t = lane % 4, register i holds 4 bytes of the
/// warp's row g (+ 8 for odd i), from byte 4 t of the step (+ 16 for i ≥ 2).
__device__ void load_fragment(u32 (&a)[4], const u8* matrix, u32 step) {
  const u32 lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (u32 i = 0; i < 4; ++i) {
    const u32 byte = step * kStepBytes + lane % 4 * 4 + 16 * (i / 2);
    a[i] = *reinterpret_cast<const u32*>(matrix + (row + 8 * (i % 2)) * kK * ELEMENT_BYTES + byte);
  }
}

extern "C" __global__ void product(const u8* a, const u8* b, const float* c, float* d) {
  __shared__ __align__(1024) u8 tile_a[64 * kK * ELEMENT_BYTES];
  __shared__ __align__(1024) u8 tile_b[(N + 63) / 64 * 64 * kK * ELEMENT_BYTES];
  if (A_PLACE != 0) store(tile_a, a, 64, A_PLACE == 2);
  store(tile_b, b, N, B_N_MAJOR);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const u32 lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16 + lane / 4;
  float sum[N / 2];
  for (u32 i = 0; i < N / 2; ++i) {
    const u32 row = first + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
    sum[i] = c == nullptr ? 0 : c[row * N + column];
    asm volatile("" : "+f"(sum[i])::"memory");  // forces the write before the fence
  }
  u32 fragment[STEPS][4] = {};
  for (u32 step = 0; step < STEPS && A_PLACE == 0; ++step) load_fragment(fragment[step], a, step);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (u32 step = 0; step < STEPS; ++step) {
    const u64 place_a = place(tile_a, 64, A_PLACE == 2, step);
    const u64 place_b = place(tile_b, N, B_N_MAJOR, step);
    const u32 scale = step > 0 || c != nullptr;
    PRODUCT(sum, fragment[step], place_a, place_b, scale);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (u32 i = 0; i < N / 2; ++i) {
    asm volatile("" : "+f"(sum[i])::"memory");
    const u32 row = first + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
    d[row * N + column] = sum[i];
  }
}
