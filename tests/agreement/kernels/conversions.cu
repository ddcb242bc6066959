// cvt in every direction, compared bit for bit.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef long long s64;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define TO_16(column, instruction) asm(instruction " %0, %1;" : "=h"(h) : "f"(x)); o[column] = h
#define PACK_32(column, instruction) asm(instruction " %0, %1, %2;" : "=r"(o[column]) : "f"(x), "f"(y))
#define PACK_16(column, instruction) asm(instruction " %0, %1, %2;" : "=h"(h) : "f"(x), "f"(y)); o[column] = h
#define TO_32(column, instruction) asm(instruction " %0, %1;" : "=r"(o[column]) : "f"(x))

KERNEL convert_f32_to_16(const float* a, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i];
  const float y = a[(i + 1) % n];
  u32* o = out + 10 * i;
  u16 h;
  TO_16(0, "cvt.rn.f16.f32");
  TO_16(1, "cvt.rz.f16.f32");
  TO_16(2, "cvt.rn.bf16.f32");
  TO_16(3, "cvt.rz.bf16.f32");
  PACK_32(4, "cvt.rn.f16x2.f32");
  PACK_32(5, "cvt.rz.f16x2.f32");
  PACK_32(6, "cvt.rn.relu.f16x2.f32");
  PACK_32(7, "cvt.rn.bf16x2.f32");
  PACK_32(8, "cvt.rn.relu.bf16x2.f32");
  TO_32(9, "cvt.rna.tf32.f32");
}

KERNEL convert_f32_to_8(const float* a, u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i];
  const float y = a[(i + 1) % n];
  u32* o = out + 4 * i;
  u16 h;
  PACK_16(0, "cvt.rn.satfinite.e4m3x2.f32");
  PACK_16(1, "cvt.rn.satfinite.e5m2x2.f32");
  PACK_16(2, "cvt.rn.satfinite.relu.e4m3x2.f32");
  PACK_16(3, "cvt.rn.satfinite.relu.e5m2x2.f32");
}

// Converts every pattern of 16 bits, taken as f16, as bf16 and as two bytes of each 8-bit format.
KERNEL convert_from_16(u32* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u16 h = static_cast<u16>(i);
  u32* o = out + 4 * i;
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  o[0] = __float_as_uint(f);
  asm("cvt.f32.bf16 %0, %1;" : "=f"(f) : "h"(h));
  o[1] = __float_as_uint(f);
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(o[2]) : "h"(h));
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(o[3]) : "h"(h));
}

// Converts every f16 to 8-bit floats, to integers and to an integral f16.
KERNEL convert_f16_to_8(u16* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u32 pair = i | (i ^ 0x8000u) << 16;
  const u16 h = static_cast<u16>(i);
  u16* o = out + 6 * i;
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(o[0]) : "r"(pair));
  asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(o[1]) : "r"(pair));
  asm("cvt.rni.s16.f16 %0, %1;" : "=h"(o[2]) : "h"(h));
  asm("cvt.rzi.u16.f16 %0, %1;" : "=h"(o[3]) : "h"(h));
  asm("cvt.rni.f16.f16 %0, %1;" : "=h"(o[4]) : "h"(h));
  asm("cvt.rmi.f16.f16 %0, %1;" : "=h"(o[5]) : "h"(h));
}

#define INTEGER(column, instruction) asm(instruction " %0, %1;" : "=r"(v) : "f"(x)); o[column] = v
#define WIDE(column, instruction) asm(instruction " %0, %1;" : "=l"(o[column]) : "f"(x))
#define SHORT(column, instruction) asm(instruction " %0, %1;" : "=h"(h) : "f"(x)); o[column] = h

KERNEL convert_f32_to_integers(const float* a, u64* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const float x = a[i];
  u64* o = out + 14 * i;
  u32 v;
  u16 h;
  INTEGER(0, "cvt.rni.s32.f32");
  INTEGER(1, "cvt.rzi.s32.f32");
  INTEGER(2, "cvt.rmi.s32.f32");
  INTEGER(3, "cvt.rpi.s32.f32");
  INTEGER(4, "cvt.rni.u32.f32");
  INTEGER(5, "cvt.rzi.u32.f32");
  INTEGER(6, "cvt.rpi.u32.f32");
  WIDE(7, "cvt.rni.s64.f32");
  WIDE(8, "cvt.rzi.u64.f32");
  SHORT(9, "cvt.rni.s16.f32");
  SHORT(10, "cvt.rzi.u16.f32");
  INTEGER(11, "cvt.rni.s8.f32");
  INTEGER(12, "cvt.rzi.u8.f32");
  INTEGER(13, "cvt.rzi.ftz.s32.f32");
}

KERNEL convert_integers_to_floats(const u64* a, u64* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u64 x = a[i];
  const u32 v = static_cast<u32>(x);
  u64* o = out + 12 * i;
  float f;
  double d;
  u16 h;
#define FROM_32(column, instruction) asm(instruction " %0, %1;" : "=f"(f) : "r"(v)); o[column] = __float_as_uint(f)
#define FROM_64(column, instruction) asm(instruction " %0, %1;" : "=f"(f) : "l"(x)); o[column] = __float_as_uint(f)
  FROM_32(0, "cvt.rn.f32.s32");
  FROM_32(1, "cvt.rz.f32.s32");
  FROM_32(2, "cvt.rm.f32.u32");
  FROM_32(3, "cvt.rp.f32.u32");
  FROM_64(4, "cvt.rn.f32.s64");
  FROM_64(5, "cvt.rn.f32.u64");
  FROM_64(6, "cvt.rz.f32.u64");
  asm("cvt.rn.f64.s64 %0, %1;" : "=d"(d) : "l"(x));
  o[7] = __double_as_longlong(d);
  asm("cvt.rz.f64.u64 %0, %1;" : "=d"(d) : "l"(x));
  o[8] = __double_as_longlong(d);
  asm("cvt.rn.f64.u32 %0, %1;" : "=d"(d) : "r"(v));
  o[9] = __double_as_longlong(d);
  asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(v));
  o[10] = h;
  asm("cvt.rn.f16.u32 %0, %1;" : "=h"(h) : "r"(v >> 16));
  o[11] = h;
}

KERNEL convert_doubles(const double* a, u64* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const double x = a[i];
  u64* o = out + 9 * i;
  float f;
  u32 v;
  u16 h;
#define TO_F32(column, instruction) asm(instruction " %0, %1;" : "=f"(f) : "d"(x)); o[column] = __float_as_uint(f)
  TO_F32(0, "cvt.rn.f32.f64");
  TO_F32(1, "cvt.rz.f32.f64");
  TO_F32(2, "cvt.rm.f32.f64");
  TO_F32(3, "cvt.rp.f32.f64");
  TO_F32(4, "cvt.rn.ftz.f32.f64");
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(x));
  o[5] = h;
  asm("cvt.rni.s32.f64 %0, %1;" : "=r"(v) : "d"(x));
  o[6] = v;
  asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(o[7]) : "d"(x));
  asm("cvt.rpi.s64.f64 %0, %1;" : "=l"(o[8]) : "d"(x));
}

// Converts f32 to f64, which is exact. NaN must become the same bits as on the real GPU.
KERNEL convert_f32_to_f64(const float* a, double* out, int n) {
  const int i = INDEX;
  if (i < n) asm("cvt.f64.f32 %0, %1;" : "=d"(out[i]) : "f"(a[i]));
}

KERNEL convert_between_integers(const u64* a, u64* out, int n) {
  const int i = INDEX;
  if (i >= n) return;
  const u64 x = a[i];
  const u32 v = static_cast<u32>(x);
  u64* o = out + 8 * i;
  u32 r;
  asm("cvt.s64.s32 %0, %1;" : "=l"(o[0]) : "r"(v));
  asm("cvt.u64.u32 %0, %1;" : "=l"(o[1]) : "r"(v));
  asm("cvt.s32.s8 %0, %1;" : "=r"(r) : "r"(v));
  o[2] = r;
  asm("cvt.u32.u16 %0, %1;" : "=r"(r) : "h"(static_cast<u16>(v)));
  o[3] = r;
  asm("cvt.s32.s64 %0, %1;" : "=r"(r) : "l"(x));
  o[4] = r;
  asm("cvt.s32.s16 %0, %1;" : "=r"(r) : "h"(static_cast<u16>(v)));
  o[5] = r;
  asm("cvt.u32.u8 %0, %1;" : "=r"(r) : "r"(v));
  o[6] = r;
  asm("cvt.s64.s8 %0, %1;" : "=l"(o[7]) : "r"(v));
}
