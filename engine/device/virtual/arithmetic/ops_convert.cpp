#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
// clang-format on

// Handlers of conversions between integers and floats, and between floating-point formats.

namespace evo::ptx::EVO_SIMD {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

EVO_INLINE float canonical(float value) { return value == value ? value : bits_float(0x7fffffffU); }
EVO_INLINE float flush(float value) {
  const U32 bits = float_bits(value);
  return bits_float((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}
EVO_INLINE float saturate(float value) {
  const float low = value > 0.0F ? value : 0.0F;
  return low < 1.0F ? low : 1.0F;
}

template <typename D, typename S>
constexpr auto convert_op = [](S a) { return static_cast<D>(a); };

template <int kMode>
EVO_INLINE double round_to_integer(double value) {
  if (kMode == 0) return __builtin_nearbyint(value);
  if (kMode == 1) return __builtin_trunc(value);
  if (kMode == 2) return __builtin_floor(value);
  return __builtin_ceil(value);
}

/// The integer that the PTX ISA defines for NaN: if the source is f64 or the result has 64 bits, a
/// number in which only the highest bit is set; otherwise 0.
template <typename I, typename F>
EVO_INLINE I integer_of_nan() {
  constexpr bool kWide = sizeof(F) == 8 || sizeof(I) == 8;
  return kWide ? static_cast<I>(U64{1} << (sizeof(I) * 8 - 1)) : I{0};
}

/// Converts a float to an integer of type I in a register of type R. A value outside of the range
/// of I becomes the smallest or largest value of I.
template <typename R, typename I, typename F, int kMode>
EVO_INLINE R to_integer(F value) {
  const double rounded = round_to_integer<kMode>(static_cast<double>(value));
  constexpr bool kSigned = static_cast<I>(-1) < 0;
  constexpr int kBits = static_cast<int>(sizeof(I) * 8);
  const double high = kSigned ? __builtin_ldexp(1.0, kBits - 1) : __builtin_ldexp(1.0, kBits);
  const double low = kSigned ? -high : 0.0;
  const I maximum = static_cast<I>(kSigned ? (U64{1} << (kBits - 1)) - 1 : ~U64{0});
  const I minimum = static_cast<I>(kSigned ? U64{1} << (kBits - 1) : 0);
  if (rounded != rounded) return static_cast<R>(integer_of_nan<I, F>());
  if (rounded >= high) return static_cast<R>(maximum);
  if (rounded < low) return static_cast<R>(minimum);
  return static_cast<R>(static_cast<I>(rounded));
}

template <typename R, typename I, typename F>
void float_to_integer(Warp& warp, const Instr& in) {
  const auto& op = in.as<ConvertOperands>();
  R* dst = lane_register<R>(warp, op.dst);
  const F* a = lane_register<const F>(warp, op.source);
  alignas(64) R value[kWarpSize];
  const auto read = [&](int l) {
    if constexpr (sizeof(F) == 4) return op.ftz ? flush(a[l]) : a[l];
    return a[l];
  };
  switch (op.rounding) {
    case Rounding::kNearest:
      for (int l = 0; l < kWarpSize; ++l)
        value[l] = to_integer<R, I, F, 0>(static_cast<F>(read(l)));
      break;
    case Rounding::kZero:
      for (int l = 0; l < kWarpSize; ++l)
        value[l] = to_integer<R, I, F, 1>(static_cast<F>(read(l)));
      break;
    case Rounding::kDown:
      for (int l = 0; l < kWarpSize; ++l)
        value[l] = to_integer<R, I, F, 2>(static_cast<F>(read(l)));
      break;
    case Rounding::kUp:
      for (int l = 0; l < kWarpSize; ++l)
        value[l] = to_integer<R, I, F, 3>(static_cast<F>(read(l)));
      break;
  }
  blend(dst, value, warp.exec);
}

/// Executes cvt between equal float types, which may round to an integral value, flush subnormals
/// and saturate.
template <typename F>
void float_to_same(Warp& warp, const Instr& in) {
  const auto& op = in.as<ConvertOperands>();
  F* dst = lane_register<F>(warp, op.dst);
  const F* a = lane_register<const F>(warp, op.source);
  const int mode = op.keeps_value ? -1 : static_cast<int>(op.rounding);
  alignas(64) F value[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    F x = a[l];
    if constexpr (sizeof(F) == 4) x = op.ftz ? flush(x) : x;
    double r = static_cast<double>(x);
    if (mode == 0) r = round_to_integer<0>(r);
    if (mode == 1) r = round_to_integer<1>(r);
    if (mode == 2) r = round_to_integer<2>(r);
    if (mode == 3) r = round_to_integer<3>(r);
    F result = static_cast<F>(r);
    if constexpr (sizeof(F) == 4) {
      result = canonical(result);
      if (op.sat) result = saturate(result);
    } else if (op.sat) {
      result = result > 0 ? (result < 1 ? result : 1) : 0;
    }
    value[l] = result;
  }
  blend(dst, value, warp.exec);
}

constexpr auto f32_to_f64 = [](float a) { return static_cast<double>(a); };
constexpr auto f32_ftz_to_f64 = [](float a) { return static_cast<double>(flush(a)); };
// If an f64 NaN is converted, it keeps its sign and the part of its payload that fits the narrower
// type; f32 arithmetic on a NaN gives the canonical NaN instead.
constexpr auto f64_to_f32 = [](double a) { return static_cast<float>(a); };
constexpr auto f64_to_f32_ftz = [](double a) { return flush(static_cast<float>(a)); };
constexpr auto f16_to_f32 = [](U16 a) { return canonical(half_to_float(a)); };
// bf16 is converted to f32 by a shift, so a bf16 NaN keeps its payload.
constexpr auto bf16_to_f32 = [](U16 a) { return bfloat_to_float(a); };
constexpr auto f16_to_f64 = [](U16 a) { return static_cast<double>(half_to_float(a)); };
constexpr auto bf16_to_f64 = [](U16 a) { return static_cast<double>(bfloat_to_float(a)); };
constexpr auto f32_to_f16 = [](float a) { return float_to_half(a); };
constexpr auto f32_to_f16_rz = [](float a) { return float_to_half_rz(a); };
constexpr auto f32_to_f16_relu = [](float a) { return float_to_half(a <= 0.0F ? 0.0F : a); };
constexpr auto f32_to_bf16 = [](float a) { return float_to_bfloat(a); };
constexpr auto f32_to_bf16_rz = [](float a) { return float_to_bfloat_rz(a); };
constexpr auto f32_to_bf16_relu = [](float a) { return float_to_bfloat(a <= 0.0F ? 0.0F : a); };
constexpr auto f32_to_f16_rz_relu = [](float a) { return float_to_half_rz(a <= 0.0F ? 0.0F : a); };
constexpr auto f32_to_bf16_rz_relu = [](float a) {
  return float_to_bfloat_rz(a <= 0.0F ? 0.0F : a);
};
/// F with .satfinite: infinity becomes the largest finite number, whose bits are one less.
template <auto F, U16 kInfinity>
constexpr auto satfinite = [](float a) {
  const U16 bits = F(a);
  return static_cast<U16>((bits & 0x7fffU) == kInfinity ? bits - 1 : bits);
};
// In a conversion to tf32, a NaN is truncated, not rounded, so a NaN whose payload is only in the
// low bits becomes infinity.
constexpr auto f32_to_tf32 = [](float a) {
  const U32 bits = float_bits(a);
  const U32 half = (bits & 0x7fffffffU) > 0x7f800000U ? 0U : 0x1000U;
  return bits_float((bits + half) & 0xffffe000U);
};

// The first source of a packing cvt becomes the upper half of the result.
template <auto F>
constexpr auto pack_halves =
    [](float a, float b) { return static_cast<U32>(F(a)) << 16 | static_cast<U32>(F(b)); };
template <auto F>
constexpr auto pack_bytes = [](float a, float b) {
  return static_cast<U16>(static_cast<U32>(F(a)) << 8 | static_cast<U32>(F(b)));
};
template <auto F>
constexpr auto pack_bytes_of_halves = [](U32 a) {
  const float low = half_to_float(static_cast<U16>(a));
  const float high = half_to_float(static_cast<U16>(a >> 16));
  return static_cast<U16>(static_cast<U32>(F(high)) << 8 | static_cast<U32>(F(low)));
};
template <auto F>
constexpr auto unpack_bytes = [](U16 a) {
  const U32 low = float_to_half(F(static_cast<std::uint8_t>(a)));
  const U32 high = float_to_half(F(static_cast<std::uint8_t>(a >> 8)));
  return high << 16 | low;
};
constexpr auto to_e4m3 = [](float a) { return float_to_e4m3(a); };
constexpr auto to_e5m2 = [](float a) { return float_to_e5m2(a); };
constexpr auto to_e4m3_relu = [](float a) { return float_to_e4m3(a < 0.0F ? 0.0F : a); };
constexpr auto to_e5m2_relu = [](float a) { return float_to_e5m2(a < 0.0F ? 0.0F : a); };
constexpr auto from_e4m3 = [](std::uint8_t a) { return e4m3_to_float(a); };
constexpr auto from_e5m2 = [](std::uint8_t a) { return e5m2_to_float(a); };

template <typename F>
void register_integer_sources(Handler (&row)[2][3]) {
  row[0][0] = unary<F, U16, convert_op<F, U16>>;
  row[0][1] = unary<F, U32, convert_op<F, U32>>;
  row[0][2] = unary<F, U64, convert_op<F, U64>>;
  row[1][0] = unary<F, S16, convert_op<F, S16>>;
  row[1][1] = unary<F, S32, convert_op<F, S32>>;
  row[1][2] = unary<F, S64, convert_op<F, S64>>;
}

template <typename F>
void register_integer_results(Handler (&row)[2][4]) {
  row[0][0] = float_to_integer<U16, std::uint8_t, F>;
  row[0][1] = float_to_integer<U16, U16, F>;
  row[0][2] = float_to_integer<U32, U32, F>;
  row[0][3] = float_to_integer<U64, U64, F>;
  row[1][0] = float_to_integer<S16, std::int8_t, F>;
  row[1][1] = float_to_integer<S16, S16, F>;
  row[1][2] = float_to_integer<S32, S32, F>;
  row[1][3] = float_to_integer<S64, S64, F>;
}

/// Registers a cvt from f32 to a 16-bit float, and from two f32 to a pair.
template <auto F>
void register_narrowing(AluTable& table, const std::string& mode, const std::string& type) {
  table.add("cvt." + mode + "." + type + ".f32", unary<U16, float, F>, Type::kB16, {Type::kF32},
            TaintRule::kAny, Pipe::kConvert);
  table.add("cvt." + mode + "." + type + "x2.f32", binary<U32, float, float, pack_halves<F>>,
            Type::kB32, {Type::kF32, Type::kF32}, TaintRule::kAny, Pipe::kConvert);
}

template <auto F, auto kRelu, U16 kInfinity>
void register_narrowings(AluTable& table, const std::string& mode, const std::string& type) {
  register_narrowing<F>(table, mode, type);
  register_narrowing<kRelu>(table, mode + ".relu", type);
  register_narrowing<satfinite<F, kInfinity>>(table, mode + ".satfinite", type);
  for (const char* order : {".relu.satfinite", ".satfinite.relu"})
    register_narrowing<satfinite<kRelu, kInfinity>>(table, mode + order, type);
}

void register_packed(AluTable& table) {
  const auto two_floats = [&](const std::string& name, Handler fn, Type dst) {
    table.add("cvt." + name, fn, dst, {Type::kF32, Type::kF32}, TaintRule::kAny, Pipe::kConvert);
  };
  const auto one = [&](const std::string& name, Handler fn, Type dst, Type src) {
    table.add("cvt." + name, fn, dst, {src}, TaintRule::kAny, Pipe::kConvert);
  };
  register_narrowings<f32_to_f16, f32_to_f16_relu, 0x7c00>(table, "rn", "f16");
  register_narrowings<f32_to_f16_rz, f32_to_f16_rz_relu, 0x7c00>(table, "rz", "f16");
  register_narrowings<f32_to_bf16, f32_to_bf16_relu, 0x7f80>(table, "rn", "bf16");
  register_narrowings<f32_to_bf16_rz, f32_to_bf16_rz_relu, 0x7f80>(table, "rz", "bf16");
  two_floats("rn.satfinite.e4m3x2.f32", binary<U16, float, float, pack_bytes<to_e4m3>>, Type::kB16);
  two_floats("rn.satfinite.e5m2x2.f32", binary<U16, float, float, pack_bytes<to_e5m2>>, Type::kB16);
  two_floats("rn.satfinite.relu.e4m3x2.f32", binary<U16, float, float, pack_bytes<to_e4m3_relu>>,
             Type::kB16);
  two_floats("rn.satfinite.relu.e5m2x2.f32", binary<U16, float, float, pack_bytes<to_e5m2_relu>>,
             Type::kB16);
  one("rn.satfinite.e4m3x2.f16x2", unary<U16, U32, pack_bytes_of_halves<to_e4m3>>, Type::kB16,
      Type::kB32);
  one("rn.satfinite.e5m2x2.f16x2", unary<U16, U32, pack_bytes_of_halves<to_e5m2>>, Type::kB16,
      Type::kB32);
  one("rn.f16x2.e4m3x2", unary<U32, U16, unpack_bytes<from_e4m3>>, Type::kB32, Type::kB16);
  one("rn.f16x2.e5m2x2", unary<U32, U16, unpack_bytes<from_e5m2>>, Type::kB32, Type::kB16);
  one("rn.satfinite.relu.e4m3x2.f16x2", unary<U16, U32, pack_bytes_of_halves<to_e4m3_relu>>,
      Type::kB16, Type::kB32);
  one("rn.satfinite.relu.e5m2x2.f16x2", unary<U16, U32, pack_bytes_of_halves<to_e5m2_relu>>,
      Type::kB16, Type::kB32);
  one("rna.tf32.f32", unary<float, float, f32_to_tf32>, Type::kB32, Type::kF32);
}

}  // namespace

void register_convert(AluTable& table) {
  const auto one = [&](const std::string& name, Handler fn, Type dst, Type src) {
    table.add("cvt." + name, fn, dst, {src}, TaintRule::kAny, Pipe::kConvert);
  };
  one("f64.f32", unary<double, float, f32_to_f64>, Type::kF64, Type::kF32);
  one("ftz.f64.f32", unary<double, float, f32_ftz_to_f64>, Type::kF64, Type::kF32);
  one("rn.f32.f64", unary<float, double, f64_to_f32>, Type::kF32, Type::kF64);
  one("rn.ftz.f32.f64", unary<float, double, f64_to_f32_ftz>, Type::kF32, Type::kF64);
  one("f32.f16", unary<float, U16, f16_to_f32>, Type::kF32, Type::kB16);
  one("ftz.f32.f16", unary<float, U16, f16_to_f32>, Type::kF32, Type::kB16);
  one("f32.bf16", unary<float, U16, bf16_to_f32>, Type::kF32, Type::kB16);
  one("f64.f16", unary<double, U16, f16_to_f64>, Type::kF64, Type::kB16);
  one("f64.bf16", unary<double, U16, bf16_to_f64>, Type::kF64, Type::kB16);
  register_packed(table);
  register_integer_sources<double>(table.helpers.integer_to_f64);
  register_integer_sources<float>(table.helpers.integer_to_f32);
  register_integer_results<double>(table.helpers.f64_to_integer);
  register_integer_results<float>(table.helpers.f32_to_integer);
  table.helpers.same_f32 = float_to_same<float>;
  table.helpers.same_f64 = float_to_same<double>;
}

}  // namespace evo::ptx::EVO_SIMD
