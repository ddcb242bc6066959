#pragma once

#include <cstdint>

#include "engine/device/virtual/arithmetic/mufu_tables.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"

// Bit-exact MUFU.EX2 and MUFU.RCP. A table divides the range of the argument into segments; in each
// segment, the result is a quadratic polynomial in fixed point with a truncated square. The method
// is that of Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator" (ARITH
// 2005). The widths, rounding constants and coefficients were derived from results of an H200. All
// functions are force-inlined, because the linker might otherwise use a copy compiled for a newer
// instruction set (see small_floats.hpp).

namespace evo::ptx {

/// u² for u = `fraction` / 2^kBits, in units of 2^-15. Products of two bits that are smaller than
/// 2^-15 are omitted, as in the hardware.
template <int kBits>
EVO_INLINE std::int32_t mufu_square(std::int32_t fraction) {
  constexpr int kSquareBits = 15;
  constexpr int kRows = kSquareBits / 2;  // number of bits with products of at least one unit
  std::int32_t square = 0;
  for (int i = 0; i < kRows; ++i) {
    const int position = kBits - 1 - i;
    const std::int32_t set = -((fraction >> position) & 1);
    const std::int32_t later = fraction & ((1 << position) - 1);
    square += set & ((later >> (i + kBits - kSquareBits)) + (1 << (kSquareBits - 2 - 2 * i)));
  }
  return square;
}

/// 2^(fraction / 2^23) · 2^23, rounded as the hardware does.
EVO_INLINE std::int32_t mufu_exp2_mantissa(std::int32_t fraction) {
  constexpr int kBits = 17;
  constexpr std::int64_t kRounding = 12228;  // in units of 2^-16
  const MufuSegment& at = kExp2Segments[static_cast<std::size_t>(fraction >> kBits)];
  const std::int32_t u = fraction & ((1 << kBits) - 1);
  const std::int64_t sum = (static_cast<std::int64_t>(at.value) << 14) +
                           static_cast<std::int64_t>(at.slope) * u +
                           2 * at.curve * mufu_square<kBits>(u) + kRounding;
  return static_cast<std::int32_t>(sum >> 16);
}

/// 2^24 / (1 + fraction / 2^23), rounded as the hardware does.
EVO_INLINE std::int32_t mufu_reciprocal_mantissa(std::int32_t fraction) {
  constexpr int kBits = 16;
  constexpr std::int64_t kRounding = 2023;  // in units of 2^-15
  const MufuSegment& at = kReciprocalSegments[static_cast<std::size_t>(fraction >> kBits)];
  const std::int32_t u = fraction & ((1 << kBits) - 1);
  const std::int64_t sum = (static_cast<std::int64_t>(at.value) << 13) +
                           static_cast<std::int64_t>(at.slope) * u +
                           at.curve * mufu_square<kBits>(u) + kRounding;
  return static_cast<std::int32_t>(sum >> 15);
}

/// The operand of ex2.approx.ftz.f32, limited to ±200, in units of 2^-23 and truncated to 23 binary
/// places. If the operand is negative and its fraction is not zero, the fraction is complemented
/// bitwise, as in the hardware, so the fraction is one unit too small.
EVO_INLINE std::int32_t mufu_exp2_fixed(float x) {
  const float bounded = x > 200.0F ? 200.0F : (x > -200.0F ? x : -200.0F);
  const std::int32_t places = static_cast<std::int32_t>(bounded * 0x1p23F);
  const bool negative = (float_bits(x) >> 31) != 0;
  const bool whole = (places & 0x7fffff) == 0;
  return negative && !whole ? ~-places : places;
}

/// The result of ex2.approx.ftz.f32 for `x`. `fixed` is mufu_exp2_fixed(x); `mantissa` is
/// mufu_exp2_mantissa() of the lower 23 bits of `fixed`.
EVO_INLINE float mufu_exp2_result(float x, std::int32_t fixed, std::int32_t mantissa) {
  constexpr float kOne = 1.0F;
  const std::int32_t exponent = (fixed >> 23) + 127;
  const std::uint32_t bits = (static_cast<std::uint32_t>(exponent) << 23) +
                             (static_cast<std::uint32_t>(mantissa) & 0x7fffffU);
  float result = exponent >= 255 ? bits_float(0x7f800000U) : bits_float(bits);
  result = exponent <= 0 ? 0.0F : result;
  result = (float_bits(x) & 0x7f800000U) == 0 ? kOne : result;
  return x == x ? result : bits_float(0x7fffffffU);
}

/// The result of ex2.approx.ftz.f32.
EVO_INLINE float mufu_exp2(float x) {
  const std::int32_t fixed = mufu_exp2_fixed(x);
  return mufu_exp2_result(x, fixed, mufu_exp2_mantissa(fixed & 0x7fffff));
}

/// The result of rcp.approx.ftz.f32.
EVO_INLINE float mufu_reciprocal(float x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t sign = bits & 0x80000000U;
  const auto exponent = static_cast<std::int32_t>((bits >> 23) & 0xffU);
  const auto mantissa = static_cast<std::uint32_t>(
      mufu_reciprocal_mantissa(static_cast<std::int32_t>(bits & 0x7fffffU)));
  // If the mantissa is 2^24, the reciprocal is a power of two, and its exponent is larger by one.
  const std::int32_t result_exponent = 253 - exponent + (mantissa == 0x1000000U ? 1 : 0);
  const std::uint32_t normal =
      (static_cast<std::uint32_t>(result_exponent) << 23) | (mantissa & 0x7fffffU);
  std::uint32_t result = result_exponent <= 0 ? 0U : normal;
  result = exponent == 0 ? 0x7f800000U : result;
  result = exponent == 255 ? 0U : result;
  return x == x ? bits_float(result | sign) : bits_float(0x7fffffffU);
}

}  // namespace evo::ptx
