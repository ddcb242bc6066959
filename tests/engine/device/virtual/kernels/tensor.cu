// Kernels with single instructions for tensor cores, conversions and copies. Operands are loaded
// from row-major arrays by the layouts in the PTX ISA, so that a misplaced fragment is detected.
typedef unsigned u32;
typedef unsigned short u16;
typedef unsigned char u8;

#define KERNEL extern "C" __global__ void

// D[16][8] = A[16][16] · B[16][8] + C, f16 in, f32 out.
KERNEL mma_f16(const u16* a, const u16* b, const float* c, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  u32 ra[4], rb[2];
  float rc[4];
  for (int i = 0; i < 4; ++i) {
    const int row = g + 8 * (i % 2), column = 2 * t + 8 * (i / 2);
    ra[i] = a[row * 16 + column] | static_cast<u32>(a[row * 16 + column + 1]) << 16;
    rc[i] = c[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2];
  }
  for (int i = 0; i < 2; ++i) {
    const int row = 2 * t + 8 * i;
    rb[i] = b[row * 8 + g] | static_cast<u32>(b[(row + 1) * 8 + g]) << 16;
  }
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(rc[0]), "+f"(rc[1]), "+f"(rc[2]), "+f"(rc[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = rc[i];
}

// D[16][8] = A[16][32] · B[32][8], e4m3 in, f32 out.
KERNEL mma_e4m3(const u8* a, const u8* b, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  u32 ra[4] = {}, rb[2] = {};
  float rc[4] = {};
  for (int i = 0; i < 4; ++i)
    for (int e = 0; e < 4; ++e) ra[i] |= static_cast<u32>(a[(g + 8 * (i % 2)) * 32 + 4 * t + e + 16 * (i / 2)]) << (8 * e);
  for (int i = 0; i < 2; ++i)
    for (int e = 0; e < 4; ++e) rb[i] |= static_cast<u32>(b[(4 * t + e + 16 * i) * 8 + g]) << (8 * e);
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(rc[0]), "+f"(rc[1]), "+f"(rc[2]), "+f"(rc[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = rc[i];
}

// D[16][8] = A[16][32] · B[32][8], signed bytes in, s32 out.
KERNEL mma_s8(const u8* a, const u8* b, int* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  u32 ra[4] = {}, rb[2] = {};
  int rc[4] = {};
  for (int i = 0; i < 4; ++i)
    for (int e = 0; e < 4; ++e) ra[i] |= static_cast<u32>(a[(g + 8 * (i % 2)) * 32 + 4 * t + e + 16 * (i / 2)]) << (8 * e);
  for (int i = 0; i < 2; ++i)
    for (int e = 0; e < 4; ++e) rb[i] |= static_cast<u32>(b[(4 * t + e + 16 * i) * 8 + g]) << (8 * e);
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(rc[0]), "+r"(rc[1]), "+r"(rc[2]), "+r"(rc[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; ++i) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = rc[i];
}

// Loads four 8×8 matrices of 16-bit elements: matrix m as stored to row m of out, and transposed
// to row 4 + m; lane l writes element l of the rows.
KERNEL load_matrices(const u16* in, u32* out) {
  __shared__ __align__(16) u16 tile[32 * 8];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = in[i];
  __syncwarp();
  const u32 row = static_cast<u32>(__cvta_generic_to_shared(tile + 8 * threadIdx.x));
  u32 r[4], s[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]) : "r"(row) : "memory");
  for (int m = 0; m < 4; ++m) {
    out[m * 32 + threadIdx.x] = r[m];
    out[128 + m * 32 + threadIdx.x] = s[m];
  }
}

// C[16][16] = A[16][16] · B[16][16] through wmma, A row-major with stride lda, B column-major.
KERNEL wmma_product(const u16* a, const u16* b, float* c, int lda) {
  __shared__ __align__(32) u16 tile[16 * 24];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * lda + i % 16] = a[i];
  __syncwarp();
  const u32 left = static_cast<u32>(__cvta_generic_to_shared(tile));
  u32 fa[8], fb[8];
  float fc[8];
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]), "=r"(fa[4]), "=r"(fa[5]), "=r"(fa[6]), "=r"(fa[7])
               : "r"(left), "r"(lda) : "memory");
  asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
               : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]), "=r"(fb[4]), "=r"(fb[5]), "=r"(fb[6]), "=r"(fb[7])
               : "l"(b), "r"(16) : "memory");
  asm volatile(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15}, "
      "{%16,%17,%18,%19,%20,%21,%22,%23}, {%24,%24,%24,%24,%24,%24,%24,%24};"
      : "=f"(fc[0]), "=f"(fc[1]), "=f"(fc[2]), "=f"(fc[3]), "=f"(fc[4]), "=f"(fc[5]), "=f"(fc[6]), "=f"(fc[7])
      : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fa[4]), "r"(fa[5]), "r"(fa[6]), "r"(fa[7]), "r"(fb[0]), "r"(fb[1]),
        "r"(fb[2]), "r"(fb[3]), "r"(fb[4]), "r"(fb[5]), "r"(fb[6]), "r"(fb[7]), "f"(0.0f));
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, %9;" ::"l"(c), "f"(fc[0]), "f"(fc[1]),
               "f"(fc[2]), "f"(fc[3]), "f"(fc[4]), "f"(fc[5]), "f"(fc[6]), "f"(fc[7]), "r"(16) : "memory");
}

// Converts two floats to an e4m3 pair and back to f16; the first source is the upper byte.
KERNEL convert_e4m3(const float* in, u16* bytes, u32* halves) {
  const int t = threadIdx.x;
  u16 packed;
  u32 wide;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(in[2 * t]), "f"(in[2 * t + 1]));
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide) : "h"(packed));
  bytes[t] = packed;
  halves[t] = wide;
}

// If the source of a cp.async is shorter than the copy, the rest of the destination becomes zero.
KERNEL copy_with_zero_fill(const u32* in, u32* out, int valid_bytes) {
  __shared__ __align__(16) u32 tile[4 * 32];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  const int left = valid_bytes - 16 * static_cast<int>(threadIdx.x);
  const int bytes = left < 0 ? 0 : left > 16 ? 16 : left;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + 4 * threadIdx.x), "r"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int i = threadIdx.x; i < 128; i += 32) out[i] = tile[i];
}

// Computes sums, products, FMAs and maxima of pairs of f16.
KERNEL half_pairs(const u32* a, const u32* b, const u32* c, u32* out) {
  const int t = threadIdx.x;
  u32 sum, product, fused, largest;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a[t]), "r"(b[t]));
  asm("mul.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a[t]), "r"(b[t]));
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(fused) : "r"(a[t]), "r"(b[t]), "r"(c[t]));
  asm("max.f16x2 %0, %1, %2;" : "=r"(largest) : "r"(a[t]), "r"(b[t]));
  out[4 * t] = sum;
  out[4 * t + 1] = product;
  out[4 * t + 2] = fused;
  out[4 * t + 3] = largest;
}

// Computes 2^x, whose error the test measures.
KERNEL exponentials(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out[i]) : "f"(in[i]));
}

// Each lane copies 16 bytes and uses word `use`. fill_first_words wrote only the first 4 bytes.
KERNEL copies_padding(const u32* in, u32* out, int use) {
  __shared__ __align__(16) u32 tile[4 * 32];
  const u32 to = static_cast<u32>(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[4 * threadIdx.x + use];
}

// Writes the first of every four words of `out`.
KERNEL fill_first_words(u32* out) { out[4 * threadIdx.x] = threadIdx.x; }
