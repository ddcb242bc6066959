// Conversions between e4m3, f16 and f32, a maximum and a reciprocal. f16 pairs are stored as u32,
// the lower index in the low half.
#pragma once

#include "common/types.cuh"

namespace ptx {

/// Returns lo and hi as a pair of f16, rounded to nearest even.
__device__ __forceinline__ u32 f16x2_from_f32(float lo, float hi) {
  u32 pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
  return pair;
}

/// Converts max(0, lo) and max(0, hi) to f16. Below 2^-13, the bits of an f16 are its value in
/// units of 2^-24, so this rounds to an integer number of these units. NaN becomes 0x7FFF.
__device__ __forceinline__ u32 units_from_f32(float lo, float hi) {
  u32 pair;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(hi), "f"(lo));
  return pair;
}

/// Returns the larger f16 of each half; if one of two is NaN, the other.
__device__ __forceinline__ u32 max_f16x2(u32 a, u32 b) {
  u32 pair;
  asm("max.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(a), "r"(b));
  return pair;
}

__device__ __forceinline__ float f32_from_f16(u16 half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}

/// Returns 1 / x within 1 ulp, for |x| from 2^-126 to 2^126. (A division takes 100 instructions.)
__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Converts two bytes of e4m3 to two f16, exactly; 0x7F and 0xFF become NaN.
__device__ __forceinline__ u32 f16x2_from_e4m3x2(u16 bytes) {
#if __CUDA_ARCH__ >= 890
  u32 pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(bytes));
  return pair;
#else
  // The bits of an e4m3 value placed in an f16 give the value times 2^-8, because the biases are 7
  // and 15.
  const u32 spread = (bytes & 0xFFu) | ((bytes & 0xFF00u) << 8);
  const u32 magnitude = (spread & 0x007F007Fu) << 7;
  const u32 sign = (spread & 0x00800080u) << 8;
  const u32 kTwoTo8 = 0x5C005C00u;
  u32 pair;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(magnitude | sign), "r"(kTwoTo8));
  if ((magnitude & 0xFFFFu) == 0x3F80u) pair |= 0x00007FFFu;
  if ((magnitude >> 16) == 0x3F80u) pair |= 0x7FFF0000u;
  return pair;
#endif
}

}  // namespace ptx

__device__ __forceinline__ float low_half(u32 pair) {
  return ptx::f32_from_f16(static_cast<u16>(pair & 0xFFFFu));
}
__device__ __forceinline__ float high_half(u32 pair) {
  return ptx::f32_from_f16(static_cast<u16>(pair >> 16));
}

/// Converts the four e4m3 bytes of a word to two f16 pairs.
__device__ __forceinline__ HalfChunk f16x4_from_e4m3x4(u32 bytes) {
#if __CUDA_ARCH__ >= 890
  // A single asm statement shows the compiler that it can read the upper half of a register in
  // place.
  HalfChunk halves;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e4m3x2 %0, low; "
      "cvt.rn.f16x2.e4m3x2 %1, high; }"
      : "=r"(halves.word[0]), "=r"(halves.word[1])
      : "r"(bytes));
  return halves;
#else
  return {{ptx::f16x2_from_e4m3x2(static_cast<u16>(bytes & 0xFFFFu)),
           ptx::f16x2_from_e4m3x2(static_cast<u16>(bytes >> 16))}};
#endif
}
