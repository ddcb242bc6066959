// Approximate instructions: one output column for each, one row for each input.
typedef unsigned u32;
typedef unsigned short u16;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define F32(column, instruction) asm(instruction " %0, %1;" : "=f"(o[column]) : "f"(x))
#define F32_2(column, instruction) asm(instruction " %0, %1, %2;" : "=f"(o[column]) : "f"(x), "f"(y))
#define PAIR(column, instruction) asm(instruction " %0, %1;" : "=r"(o[column]) : "r"(x))

KERNEL approximate_ex2(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 2 * i;
  F32(0, "ex2.approx.ftz.f32");
  F32(1, "ex2.approx.f32");
}

KERNEL approximate_lg2(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 2 * i;
  F32(0, "lg2.approx.ftz.f32");
  F32(1, "lg2.approx.f32");
}

KERNEL approximate_rcp(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 2 * i;
  F32(0, "rcp.approx.ftz.f32");
  F32(1, "rcp.approx.f32");
}

KERNEL approximate_rsqrt(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 2 * i;
  F32(0, "rsqrt.approx.ftz.f32");
  F32(1, "rsqrt.approx.f32");
}

KERNEL approximate_sqrt(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 2 * i;
  F32(0, "sqrt.approx.ftz.f32");
  F32(1, "sqrt.approx.f32");
}

KERNEL approximate_sin_cos(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 2 * i;
  F32(0, "sin.approx.ftz.f32");
  F32(1, "cos.approx.ftz.f32");
}

KERNEL approximate_tanh(const float* in, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + i;
  F32(0, "tanh.approx.f32");
}

KERNEL approximate_division(const float* a, const float* b, float* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i];
  const float y = b[i];
  float* o = out + 3 * i;
  F32_2(0, "div.approx.f32");
  F32_2(1, "div.approx.ftz.f32");
  F32_2(2, "div.full.f32");
}

// 2^x and tanh of pairs of f16.
KERNEL approximate_f16(const u32* in, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = in[i];
  u32* o = out + 2 * i;
  PAIR(0, "ex2.approx.f16x2");
  PAIR(1, "tanh.approx.f16x2");
}

KERNEL approximate_bf16(const u32* in, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 x = in[i];
  u32* o = out + 2 * i;
  PAIR(0, "ex2.approx.ftz.bf16x2");
  PAIR(1, "tanh.approx.bf16x2");
}

// Tables of 2^x for all multiples x of 2^-23 in [0, 1), of 1/x for all floats x in [1, 2), and of
// 2^-x for every 20th float x in [2^-7, 8).
KERNEL table_ex2(float* out, int n) {
  const int i = INDEX;
  const float x = i * 0x1p-23f;
  if (i < n) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out[i]) : "f"(x));
}

KERNEL table_ex2_negative(float* out, int n) {
  const int i = INDEX;
  const float x = -__uint_as_float(0x3c000000u + 20u * i);
  if (i < n) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out[i]) : "f"(x));
}

KERNEL table_rcp(float* out, int n) {
  const int i = INDEX;
  const float x = 1 + i * 0x1p-23f;
  if (i < n) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out[i]) : "f"(x));
}
