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
constexpr auto f64_to_odd = [](double a) { return double_to_odd_float(a); };

struct Half {
  static EVO_INLINE float widen(U16 value) { return half_to_float(value); }
  static EVO_INLINE U16 nearest(float value) { return float_to_half(value); }
  static EVO_INLINE U16 cut(float value) { return float_to_half_rz(value); }
};
struct Bfloat {
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

template <typename T, Rounding kRounding>
void narrow_lanes(Warp& warp, const ConvertOperands& op) {
  const float* a = lane_register<const float>(warp, op.source);
  alignas(64) U16 value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    float x = a[l];
    if (op.ftz && (float_bits(x) & 0x7f800000U) == 0) x = bits_float(float_bits(x) & 0x80000000U);
    if (op.sat) x = x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
    value[l] = narrow<T, kRounding>(x);
  }
  blend(lane_register<U16>(warp, op.dst), value, warp.exec);
}

template <typename T>
void f32_to_narrow(Warp& warp, const Instr& in) {
  const auto& op = in.as<ConvertOperands>();
  switch (op.rounding) {
    case Rounding::kNearest:
      return narrow_lanes<T, Rounding::kNearest>(warp, op);
    case Rounding::kZero:
      return narrow_lanes<T, Rounding::kZero>(warp, op);
    case Rounding::kDown:
      return narrow_lanes<T, Rounding::kDown>(warp, op);
    case Rounding::kUp:
      return narrow_lanes<T, Rounding::kUp>(warp, op);
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
  table.helpers.f64_to_odd = unary<float, double, f64_to_odd>;
  table.helpers.f32_to_f16 = f32_to_narrow<Half>;
  table.helpers.f32_to_bf16 = f32_to_narrow<Bfloat>;
}

}  // namespace evo::ptx::EVO_SIMD
