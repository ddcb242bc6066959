// Arithmetic that IEEE 754 and PTX define exactly: one output column for each instruction.
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define ONE(column, instruction) asm(instruction " %0, %1;" : "=f"(o[column]) : "f"(x))
#define TWO(column, instruction) asm(instruction " %0, %1, %2;" : "=f"(o[column]) : "f"(x), "f"(y))
#define THREE(column, instruction) asm(instruction " %0, %1, %2, %3;" : "=f"(o[column]) : "f"(x), "f"(y), "f"(z))
#define D_ONE(column, instruction) asm(instruction " %0, %1;" : "=d"(o[column]) : "d"(x))
#define D_TWO(column, instruction) asm(instruction " %0, %1, %2;" : "=d"(o[column]) : "d"(x), "d"(y))
#define D_THREE(column, instruction) asm(instruction " %0, %1, %2, %3;" : "=d"(o[column]) : "d"(x), "d"(y), "d"(z))

KERNEL ieee_add_mul(const float* a, const float* b, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  float* o = out + 16 * i;
  TWO(0, "add.rn.f32");
  TWO(1, "add.rz.f32");
  TWO(2, "add.rm.f32");
  TWO(3, "add.rp.f32");
  TWO(4, "add.rn.ftz.f32");
  TWO(5, "add.rn.sat.f32");
  TWO(6, "sub.rn.f32");
  TWO(7, "sub.rz.ftz.f32");
  TWO(8, "mul.rn.f32");
  TWO(9, "mul.rz.f32");
  TWO(10, "mul.rm.f32");
  TWO(11, "mul.rp.f32");
  TWO(12, "mul.rn.ftz.f32");
  TWO(13, "mul.rn.sat.f32");
  TWO(14, "mul.rp.ftz.f32");
  TWO(15, "sub.rm.f32");
}

KERNEL ieee_fma(const float* a, const float* b, const float* c, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i], y = b[i], z = c[i];
  float* o = out + 8 * i;
  THREE(0, "fma.rn.f32");
  THREE(1, "fma.rz.f32");
  THREE(2, "fma.rm.f32");
  THREE(3, "fma.rp.f32");
  THREE(4, "fma.rn.ftz.f32");
  THREE(5, "fma.rn.sat.f32");
  THREE(6, "fma.rz.ftz.f32");
  THREE(7, "mad.rn.f32");
}

KERNEL ieee_division(const float* a, const float* b, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  float* o = out + 8 * i;
  TWO(0, "div.rn.f32");
  TWO(1, "div.rz.f32");
  TWO(2, "div.rm.f32");
  TWO(3, "div.rp.f32");
  TWO(4, "div.rn.ftz.f32");
  ONE(5, "rcp.rn.f32");
  ONE(6, "rcp.rp.f32");
  ONE(7, "rcp.rn.ftz.f32");
}

KERNEL ieee_square_root(const float* a, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i];
  float* o = out + 5 * i;
  ONE(0, "sqrt.rn.f32");
  ONE(1, "sqrt.rz.f32");
  ONE(2, "sqrt.rm.f32");
  ONE(3, "sqrt.rp.f32");
  ONE(4, "sqrt.rn.ftz.f32");
}

KERNEL ieee_min_max(const float* a, const float* b, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  float* o = out + 10 * i;
  TWO(0, "min.f32");
  TWO(1, "max.f32");
  TWO(2, "min.NaN.f32");
  TWO(3, "max.NaN.f32");
  TWO(4, "min.ftz.f32");
  TWO(5, "max.ftz.f32");
  TWO(6, "copysign.f32");
  ONE(7, "abs.f32");
  ONE(8, "neg.f32");
  ONE(9, "abs.ftz.f32");
}

KERNEL ieee_to_integral(const float* a, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i];
  float* o = out + 6 * i;
  ONE(0, "cvt.rni.f32.f32");
  ONE(1, "cvt.rzi.f32.f32");
  ONE(2, "cvt.rmi.f32.f32");
  ONE(3, "cvt.rpi.f32.f32");
  ONE(4, "cvt.sat.f32.f32");
  ONE(5, "cvt.rni.ftz.f32.f32");
}

#define COMPARE(bit, op) \
  asm("{.reg .pred p; setp." op ".f32 p, %1, %2; selp.u32 %0, 1, 0, p;}" : "=r"(one) : "f"(x), "f"(y)); \
  all |= one << bit

KERNEL ieee_compare(const float* a, const float* b, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  u32 one, all = 0;
  COMPARE(0, "eq");
  COMPARE(1, "ne");
  COMPARE(2, "lt");
  COMPARE(3, "le");
  COMPARE(4, "gt");
  COMPARE(5, "ge");
  COMPARE(6, "equ");
  COMPARE(7, "neu");
  COMPARE(8, "ltu");
  COMPARE(9, "leu");
  COMPARE(10, "gtu");
  COMPARE(11, "geu");
  COMPARE(12, "num");
  COMPARE(13, "nan");
  COMPARE(14, "lt.ftz");
  COMPARE(15, "eq.ftz");
  out[i] = all;
}

KERNEL ieee_double(const double* a, const double* b, const double* c, double* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const double x = a[i], y = b[i], z = c[i];
  double* o = out + 14 * i;
  D_TWO(0, "add.rn.f64");
  D_TWO(1, "add.rz.f64");
  D_TWO(2, "sub.rm.f64");
  D_TWO(3, "mul.rn.f64");
  D_TWO(4, "mul.rp.f64");
  D_THREE(5, "fma.rn.f64");
  D_THREE(6, "fma.rz.f64");
  D_TWO(7, "div.rn.f64");
  D_TWO(8, "div.rm.f64");
  D_ONE(9, "sqrt.rn.f64");
  D_ONE(10, "rcp.rn.f64");
  D_TWO(11, "min.f64");
  D_TWO(12, "max.f64");
  D_ONE(13, "cvt.rni.f64.f64");
}
