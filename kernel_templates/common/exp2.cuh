// Implementations of 2^x with different accuracy and speed, and a base-2 logarithm.
#pragma once

#include "common/types.cuh"

/// 2^x with full f32 accuracy (2 ulp), including subnormal results.
__device__ __forceinline__ float exp2_full(float x) { return exp2f(x); }

namespace ptx {

/// 2^x by one MUFU instruction; relative error about 2^-22, subnormal results become 0.
__device__ __forceinline__ float exp2_mufu(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Logarithm to base 2 by one MUFU instruction; absolute error about 2^-22.
__device__ __forceinline__ float log2_mufu(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace ptx

/// 2^x for x <= 0, by the FMA and integer units only: 2^x = 2^round(x) * p(x - round(x)). The
/// relative error is 2e-7 down to x = -126; below, including -inf, the result is 2^-126.
///
/// Adding 1.5 * 2^23 to x rounds x to an integer, which is in the low bits of the sum (Cody and
/// Waite). p is the polynomial for 2^f on [-1/2, 1/2] with the least relative error, 9.2e-8, among
/// those with p(0) = 1. exp2_poly5(0) must be exactly 1; otherwise a running sum that is multiplied
/// by it a thousand times would drift by 1e-4.
__device__ __forceinline__ float exp2_poly5(float x) {
  const float kRound = 12582912.0f;
  const float clamped = fmaxf(x, -126.0f);
  const float shifted = clamped + kRound;
  const float f = clamped - (shifted - kRound);
  float p = 1.32647369e-3f;
  p = fmaf(p, f, 9.67151657e-3f);
  p = fmaf(p, f, 5.55073376e-2f);
  p = fmaf(p, f, 2.40222420e-1f);
  p = fmaf(p, f, 6.93146978e-1f);
  p = fmaf(p, f, 1.0f);
  return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

/// 2^x for x <= 126, like exp2_poly5() but with a polynomial of degree 2 or 3 (minimax, Remez):
/// relative error 1.7e-3 (degree 2) or 7.5e-5 (degree 3).
template <int kDegree>
__device__ __forceinline__ float exp2_poly(float x) {
  static_assert(kDegree == 2 || kDegree == 3, "coefficients are given for degrees 2 and 3");
  const float kRound = 12582912.0f;
  const float clamped = fmaxf(x, -126.0f);
  const float shifted = clamped + kRound;
  const float f = clamped - (shifted - kRound);
  float p;
  if constexpr (kDegree == 2) {
    p = fmaf(2.38428936e-1f, f, 7.03448006e-1f);
    p = fmaf(p, f, 1.00044314f);
  } else {
    p = fmaf(5.51716691e-2f, f, 2.42611122e-1f);
    p = fmaf(p, f, 6.93260985e-1f);
    p = fmaf(p, f, 9.99928074e-1f);
  }
  return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}
