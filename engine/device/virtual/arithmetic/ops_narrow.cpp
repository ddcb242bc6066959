#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
#include "engine/device/virtual/arithmetic/simd_integers.hpp"
// clang-format on

// Handlers of conversions to f16 and bf16 in two steps, with one rounding: the first step converts
// to f32 and rounds to odd, the second step rounds the f32.

namespace evo::ptx::EVO_SIMD {
namespace {

/// Converts an integer to f32, rounding to odd: the last digit is 1 if digits were lost.
template <typename T>
constexpr auto integer_to_odd = [](T a) {
  constexpr int kDigits = 24;
  const bool is_negative = a < 0;
  const U64 magnitude = is_negative ? U64{0} - static_cast<U64>(a) : static_cast<U64>(a);
  const int bits = 64 - __builtin_clzll(magnitude | 1U);
  const int lost = bits > kDigits ? bits - kDigits : 0;
  const bool inexact = (magnitude & ((U64{1} << lost) - 1)) != 0;
  const auto digits = static_cast<S32>(magnitude >> lost | (inexact ? 1U : 0U));
  const float power = bits_float(static_cast<U32>(127 + lost) << 23);
  return static_cast<float>(is_negative ? -digits : digits) * power;
};
EVO_INLINE float to_odd(float value) { return value; }
EVO_INLINE float to_odd(double value) { return double_to_odd_float(value); }

struct Half {
  static constexpr int kFraction = 10;  ///< bits
  static EVO_INLINE float widen(U16 value) { return half_to_float(value); }
  static EVO_INLINE U16 nearest(float value) { return float_to_half(value); }
  static EVO_INLINE U16 cut(float value) { return float_to_half_rz(value); }
};
struct Bfloat {
  static constexpr int kFraction = 7;
  static EVO_INLINE float widen(U16 value) { return bfloat_to_float(value); }
  static EVO_INLINE U16 nearest(float value) { return float_to_bfloat(value); }
  static EVO_INLINE U16 cut(float value) { return float_to_bfloat_rz(value); }
};

template <typename T, Rounding kRounding>
EVO_INLINE U16 narrow(float value) {
  if (kRounding == Rounding::kNearest) return T::nearest(value);
  const U16 cut = T::cut(value);
  const float back = T::widen(cut);
  const bool is_below = kRounding == Rounding::kUp && back < value;
  const bool is_above = kRounding == Rounding::kDown && back > value;
  // The next bits are those of the next larger magnitude.
  return static_cast<U16>(cut + (is_below || is_above ? 1 : 0));
}

/// The quiet NaN with the sign and the beginning of the payload of an f64 NaN, as on an H200.
template <typename T>
EVO_INLINE U16 narrow_nan(double nan) {
  const U64 bits = __builtin_bit_cast(U64, nan);
  const U64 sign_and_exponent = (bits >> 48 & 0x8000U) | (0x7fffU >> T::kFraction << T::kFraction);
  return static_cast<U16>(sign_and_exponent | U64{1} << (T::kFraction - 1) |
                          (bits << 12 >> (64 - T::kFraction)));
}

template <typename T, typename S, Rounding kRounding>
void narrow_lanes(Warp& warp, const ConvertOperands& op) {
  const S* a = lane_register<const S>(warp, op.source);
  alignas(64) U16 value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    float x = to_odd(a[l]);
    if (op.ftz && (float_bits(x) & 0x7f800000U) == 0) x = bits_float(float_bits(x) & 0x80000000U);
    if (op.sat) x = x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
    const bool keeps_nan = sizeof(S) == sizeof(double) && x != x;
    value[l] = keeps_nan ? narrow_nan<T>(a[l]) : narrow<T, kRounding>(x);
  }
  blend(lane_register<U16>(warp, op.dst), value, warp.exec);
}

template <typename T, typename S>
void to_narrow(Warp& warp, const Instr& in) {
  const auto& op = in.as<ConvertOperands>();
  switch (op.rounding) {
    case Rounding::kNearest:
      return narrow_lanes<T, S, Rounding::kNearest>(warp, op);
    case Rounding::kZero:
      return narrow_lanes<T, S, Rounding::kZero>(warp, op);
    case Rounding::kDown:
      return narrow_lanes<T, S, Rounding::kDown>(warp, op);
    case Rounding::kUp:
      return narrow_lanes<T, S, Rounding::kUp>(warp, op);
  }
}

}  // namespace

void register_convert_to_half(AluTable& table) {
  table.helpers.integer_to_odd[0][0] = unary<float, U16, integer_to_odd<U16>>;
  table.helpers.integer_to_odd[0][1] = unary<float, U32, integer_to_odd<U32>>;
  table.helpers.integer_to_odd[0][2] = unary<float, U64, integer_to_odd<U64>>;
  table.helpers.integer_to_odd[1][0] = unary<float, S16, integer_to_odd<S16>>;
  table.helpers.integer_to_odd[1][1] = unary<float, S32, integer_to_odd<S32>>;
  table.helpers.integer_to_odd[1][2] = unary<float, S64, integer_to_odd<S64>>;
  table.helpers.f32_to_narrow[0] = to_narrow<Half, float>;
  table.helpers.f32_to_narrow[1] = to_narrow<Bfloat, float>;
  table.helpers.f64_to_narrow[0] = to_narrow<Half, double>;
  table.helpers.f64_to_narrow[1] = to_narrow<Bfloat, double>;
}

}  // namespace evo::ptx::EVO_SIMD
