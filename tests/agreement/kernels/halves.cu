// Pairs of f16 and bf16: arithmetic with a single rounding, compared bit for bit.
typedef unsigned u32;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define ONE(column, instruction) asm(instruction " %0, %1;" : "=r"(o[column]) : "r"(x))
#define TWO(column, instruction) asm(instruction " %0, %1, %2;" : "=r"(o[column]) : "r"(x), "r"(y))
#define THREE(column, instruction) asm(instruction " %0, %1, %2, %3;" : "=r"(o[column]) : "r"(x), "r"(y), "r"(z))

KERNEL half_arithmetic(const u32* a, const u32* b, const u32* c, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i], z = c[i];
  u32* o = out + 12 * i;
  TWO(0, "add.rn.f16x2");
  TWO(1, "sub.rn.f16x2");
  TWO(2, "mul.rn.f16x2");
  THREE(3, "fma.rn.f16x2");
  THREE(4, "fma.rn.relu.f16x2");
  THREE(5, "fma.rn.sat.f16x2");
  TWO(6, "add.rn.sat.f16x2");
  TWO(7, "add.rn.ftz.f16x2");
  TWO(8, "mul.rn.ftz.f16x2");
  THREE(9, "fma.rn.ftz.f16x2");
  TWO(10, "mul.rn.sat.f16x2");
  ONE(11, "neg.f16x2");
}

KERNEL half_min_max(const u32* a, const u32* b, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i];
  u32* o = out + 8 * i;
  TWO(0, "min.f16x2");
  TWO(1, "max.f16x2");
  TWO(2, "min.NaN.f16x2");
  TWO(3, "max.NaN.f16x2");
  ONE(4, "abs.f16x2");
  TWO(5, "min.bf16x2");
  TWO(6, "max.NaN.bf16x2");
  ONE(7, "abs.bf16x2");
}

KERNEL bfloat_arithmetic(const u32* a, const u32* b, const u32* c, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = a[i], y = b[i], z = c[i];
  u32* o = out + 6 * i;
  TWO(0, "add.rn.bf16x2");
  TWO(1, "sub.rn.bf16x2");
  TWO(2, "mul.rn.bf16x2");
  THREE(3, "fma.rn.bf16x2");
  THREE(4, "fma.rn.relu.bf16x2");
  ONE(5, "neg.bf16x2");
}
