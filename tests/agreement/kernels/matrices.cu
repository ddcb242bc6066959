// Tensor-core products of arbitrary register contents, which differ between warps.
typedef unsigned u32;

#define KERNEL extern "C" __global__ void
#define WARP (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32)

#define REGISTERS_4_2 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define REGISTERS_2_1 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"

// d[warp][lane][4] := a[warp][lane][4] · b[warp][lane][2] + c[warp][lane][4].
#define PRODUCT_4_2(name, instruction, type, letter) \
  KERNEL name(const u32* a, const u32* b, const type* c, type* d) { \
    const int at = WARP * 32 + threadIdx.x % 32; \
    type r[4]; \
    for (int i = 0; i < 4; ++i) r[i] = c[4 * at + i]; \
    asm volatile(instruction " " REGISTERS_4_2 \
                 : "+" letter(r[0]), "+" letter(r[1]), "+" letter(r[2]), "+" letter(r[3]) \
                 : "r"(a[4 * at]), "r"(a[4 * at + 1]), "r"(a[4 * at + 2]), "r"(a[4 * at + 3]), "r"(b[2 * at]), "r"(b[2 * at + 1])); \
    for (int i = 0; i < 4; ++i) d[4 * at + i] = r[i]; \
  }

// Like PRODUCT_4_2, with half as many registers of A and B.
#define PRODUCT_2_1(name, instruction, type, letter) \
  KERNEL name(const u32* a, const u32* b, const type* c, type* d) { \
    const int at = WARP * 32 + threadIdx.x % 32; \
    type r[4]; \
    for (int i = 0; i < 4; ++i) r[i] = c[4 * at + i]; \
    asm volatile(instruction " " REGISTERS_2_1 \
                 : "+" letter(r[0]), "+" letter(r[1]), "+" letter(r[2]), "+" letter(r[3]) \
                 : "r"(a[2 * at]), "r"(a[2 * at + 1]), "r"(b[at])); \
    for (int i = 0; i < 4; ++i) d[4 * at + i] = r[i]; \
  }

PRODUCT_4_2(product_f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", float, "f")
PRODUCT_4_2(product_bf16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
PRODUCT_4_2(product_tf32_k8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
PRODUCT_4_2(product_s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", u32, "r")
PRODUCT_4_2(product_u8_s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", u32, "r")
PRODUCT_4_2(product_s8_saturated, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", u32, "r")
PRODUCT_4_2(product_e4m3_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
PRODUCT_4_2(product_e5m2_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f")
PRODUCT_4_2(product_e4m3_e5m2_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", float, "f")
PRODUCT_2_1(product_f16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", float, "f")
PRODUCT_2_1(product_bf16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", float, "f")
PRODUCT_2_1(product_s8_k16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", u32, "r")

// Sums kept in f16.
KERNEL product_f16_sums(const u32* a, const u32* b, const u32* c, u32* d) {
  const int at = WARP * 32 + threadIdx.x % 32;
  u32 r[2] = {c[2 * at], c[2 * at + 1]};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(r[0]), "+r"(r[1])
               : "r"(a[4 * at]), "r"(a[4 * at + 1]), "r"(a[4 * at + 2]), "r"(a[4 * at + 3]), "r"(b[2 * at]), "r"(b[2 * at + 1]));
  d[2 * at] = r[0];
  d[2 * at + 1] = r[1];
}

// A chain of products: 256 terms summed in the accumulator.
KERNEL product_chain(const u32* a, const u32* b, float* d) {
  const int at = WARP * 32 + threadIdx.x % 32;
  float r[4] = {};
  for (int k = 0; k < 16; ++k) {
    const u32* x = a + 4 * ((at + 32 * k) % 1024);
    const u32* y = b + 2 * ((at + 64 * k) % 1024);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " REGISTERS_4_2
                 : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int i = 0; i < 4; ++i) d[4 * at + i] = r[i];
}

#define FRAGMENT_8(f) "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]), "=r"(f[4]), "=r"(f[5]), "=r"(f[6]), "=r"(f[7])
#define SOURCE_8(f) "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(f[4]), "r"(f[5]), "r"(f[6]), "r"(f[7])
#define SUM_8(f) "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(f[4]), "+f"(f[5]), "+f"(f[6]), "+f"(f[7])

// 16 × 16 × 16 by wmma, f16: the layouts of A and B in memory are `row_a` and `row_b`.
#define WMMA(name, row_a, row_b) \
  KERNEL name(const unsigned short* a, const unsigned short* b, const float* c, float* d) { \
    u32 fa[8], fb[8]; \
    float fc[8]; \
    asm volatile("wmma.load.a.sync.aligned." row_a ".m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;" : FRAGMENT_8(fa) : "l"(a + 256 * blockIdx.x) : "memory"); \
    asm volatile("wmma.load.b.sync.aligned." row_b ".m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;" : FRAGMENT_8(fb) : "l"(b + 256 * blockIdx.x) : "memory"); \
    asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], 16;" \
                 : "=f"(fc[0]), "=f"(fc[1]), "=f"(fc[2]), "=f"(fc[3]), "=f"(fc[4]), "=f"(fc[5]), "=f"(fc[6]), "=f"(fc[7]) : "l"(c + 256 * blockIdx.x) : "memory"); \
    asm volatile("wmma.mma.sync.aligned." row_a "." row_b ".m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15}, " \
                 "{%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};" \
                 : SUM_8(fc) : SOURCE_8(fa), SOURCE_8(fb)); \
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, 16;" ::"l"(d + 256 * blockIdx.x), "f"(fc[0]), "f"(fc[1]), \
                 "f"(fc[2]), "f"(fc[3]), "f"(fc[4]), "f"(fc[5]), "f"(fc[6]), "f"(fc[7]) : "memory"); \
  }

WMMA(wmma_row_col, "row", "col")
WMMA(wmma_col_row, "col", "row")
