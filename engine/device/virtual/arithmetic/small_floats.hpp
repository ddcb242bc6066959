#pragma once

#include <cstdint>

// Conversions of the 16-bit and 8-bit floating-point formats, written without branches so that
// loops over lanes vectorise. All functions are force-inlined, because this file is compiled for
// several instruction sets, and the linker might otherwise use a copy for a newer set in code for
// an older set.

namespace evo::ptx {

#define EVO_INLINE __attribute__((always_inline)) inline

EVO_INLINE std::uint32_t float_bits(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
EVO_INLINE float bits_float(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

// The conversions avoid multiplications with subnormal operands, because each takes about a hundred
// clocks on many CPUs.

/// Converts f16 to float exactly.
EVO_INLINE float half_to_float(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffU;
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);
  const auto units = static_cast<float>(static_cast<std::int32_t>(magnitude));
  const std::uint32_t scaled = magnitude < 0x400U ? float_bits(units * 0x1p-24F) : normal;
  const std::uint32_t special = (half & 0x7c00U) == 0x7c00U ? 0x7f800000U : 0U;
  return bits_float(scaled | special | sign);
}

/// Converts float to f16, rounding to nearest even; a NaN becomes 0x7fff.
EVO_INLINE std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  const std::uint32_t normal = (rounded - 0x38000000U) >> 13;
  const std::uint32_t subnormal = float_bits(bits_float(magnitude) + 0.5F) - 0x3f000000U;
  std::uint32_t result = magnitude < 0x38800000U ? subnormal : normal;
  result = magnitude >= 0x477ff000U ? 0x7c00U : result;
  result = (magnitude > 0x7f800000U) ? 0x7fffU : (result | sign);
  return static_cast<std::uint16_t>(result);
}

/// Converts float to f16, rounding toward zero. Overflow gives the largest finite value; infinity
/// stays infinity.
EVO_INLINE std::uint16_t float_to_half_rz(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t normal = (magnitude - 0x38000000U) >> 13;
  // Magnitudes that are normal in f16 are clamped, because their conversion to an integer could
  // overflow, which is undefined.
  constexpr std::uint32_t kLeastNormal = 0x38800000U;
  const std::uint32_t small = magnitude < kLeastNormal ? magnitude : kLeastNormal;
  const auto subnormal = static_cast<std::uint32_t>(bits_float(small) * 0x1p24F);
  std::uint32_t result = magnitude < kLeastNormal ? subnormal : normal;
  result = magnitude >= 0x47800000U ? 0x7bffU : result;
  result = magnitude == 0x7f800000U ? 0x7c00U : result;
  result = (magnitude > 0x7f800000U) ? 0x7fffU : (result | sign);
  return static_cast<std::uint16_t>(result);
}

EVO_INLINE float bfloat_to_float(std::uint16_t value) {
  return bits_float(static_cast<std::uint32_t>(value) << 16);
}

/// Converts float to bf16, rounding to nearest even; a NaN becomes 0x7fff.
EVO_INLINE std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : rounded);
}

EVO_INLINE std::uint16_t float_to_bfloat_rz(float value) {
  const std::uint32_t bits = float_bits(value);
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : bits >> 16);
}

/// Converts double to float, rounding to odd: the last digit is 1 if digits were lost. Rounding the
/// result to f16 or bf16 equals rounding the double.
EVO_INLINE float double_to_odd_float(double value) {
  const auto narrow = static_cast<float>(value);
  const double back = narrow;
  const bool inexact = back != value && value == value;
  const bool too_large = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  const std::uint32_t bits = float_bits(narrow) - (inexact && too_large ? 1U : 0U);
  return bits_float(bits | (inexact ? 1U : 0U));
}

/// Converts double to f16, rounding to nearest even, without double rounding.
EVO_INLINE std::uint16_t double_to_half(double value) {
  return float_to_half(double_to_odd_float(value));
}

/// Converts e4m3 to float exactly. e4m3 has 1 sign bit, 4 exponent bits (bias 7) and 3 mantissa
/// bits; it has no infinity, and 0x7f and 0xff are NaN.
EVO_INLINE float e4m3_to_float(std::uint8_t value) {
  const std::uint32_t magnitude = value & 0x7fU;
  const std::uint32_t sign = (value & 0x80U) << 24;
  const std::uint32_t normal = (magnitude << 20) + (120U << 23);
  const auto units = static_cast<float>(static_cast<std::int32_t>(magnitude));
  const std::uint32_t scaled = magnitude < 0x8U ? float_bits(units * 0x1p-9F) : normal;
  return bits_float((magnitude == 0x7fU ? 0x7fffffffU : scaled) | sign);
}

/// Converts e5m2, which is the upper byte of an f16, to float exactly.
EVO_INLINE float e5m2_to_float(std::uint8_t value) {
  return half_to_float(static_cast<std::uint16_t>(value << 8));
}

/// Converts float to e4m3, rounding to nearest even. Large values and infinity saturate to ±448;
/// NaN becomes 0x7f.
EVO_INLINE std::uint8_t float_to_e4m3(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 24) & 0x80U;
  const std::uint32_t rounded = magnitude + 0x7ffffU + ((magnitude >> 20) & 1U);
  const std::uint32_t normal = (rounded - 0x3c000000U) >> 20;
  const std::uint32_t subnormal = float_bits(bits_float(magnitude) + 0x1p14F) - 0x46800000U;
  std::uint32_t result = magnitude < 0x3c800000U ? subnormal : normal;
  result = magnitude >= 0x43e00000U ? 0x7eU : result;
  result = magnitude > 0x7f800000U ? 0x7fU : (result | sign);
  return static_cast<std::uint8_t>(result);
}

/// Converts float to e5m2, rounding to nearest even. Large values and infinity saturate to ±57344;
/// NaN becomes 0x7f.
EVO_INLINE std::uint8_t float_to_e5m2(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits >> 24) & 0x80U;
  const std::uint32_t rounded = magnitude + 0xfffffU + ((magnitude >> 21) & 1U);
  const std::uint32_t normal = (rounded - 0x38000000U) >> 21;
  const std::uint32_t subnormal = float_bits(bits_float(magnitude) + 0x1p7F) - 0x43000000U;
  std::uint32_t result = magnitude < 0x38800000U ? subnormal : normal;
  result = magnitude >= 0x47600000U ? 0x7bU : result;
  result = magnitude > 0x7f800000U ? 0x7fU : (result | sign);
  return static_cast<std::uint8_t>(result);
}

}  // namespace evo::ptx
