#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
// clang-format on
#include "engine/device/virtual/arithmetic/mufu.hpp"

// Handlers of f32 and f64 arithmetic. A NaN result in f32 is the canonical NaN, as on the hardware,
// except in copysign. ex2.approx, rcp.approx and the instructions built on them give the same bits
// as the hardware (mufu.hpp). sqrt.approx is rounded correctly. Other approximate f32 instructions
// are computed in double.

namespace evo::ptx::EVO_SIMD {
namespace {

EVO_INLINE float canonical(float value) { return value == value ? value : bits_float(0x7fffffffU); }
EVO_INLINE float flush(float value) {
  const std::uint32_t bits = float_bits(value);
  return bits_float((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}
EVO_INLINE float saturate(float value) {
  // NaN becomes +0.
  const float low = value > 0.0F ? value : 0.0F;
  return low < 1.0F ? low : 1.0F;
}

template <bool kFlush>
EVO_INLINE float input(float value) {
  return kFlush ? flush(value) : value;
}
template <bool kFlush, bool kSaturate>
EVO_INLINE float output(float value) {
  const float result = canonical(kFlush ? flush(value) : value);
  return kSaturate ? saturate(result) : result;
}

template <bool F, bool S>
constexpr auto add_f32 = [](float a, float b) { return output<F, S>(input<F>(a) + input<F>(b)); };
template <bool F, bool S>
constexpr auto sub_f32 = [](float a, float b) { return output<F, S>(input<F>(a) - input<F>(b)); };
template <bool F, bool S>
constexpr auto mul_f32 = [](float a, float b) { return output<F, S>(input<F>(a) * input<F>(b)); };
template <bool F, bool S>
constexpr auto fma_f32 = [](float a, float b, float c) {
  return output<F, S>(__builtin_fmaf(input<F>(a), input<F>(b), input<F>(c)));
};
template <bool F>
constexpr auto neg_f32 =
    [](float a) { return canonical(bits_float(float_bits(input<F>(a)) ^ 0x80000000U)); };
template <bool F>
constexpr auto abs_f32 =
    [](float a) { return canonical(bits_float(float_bits(input<F>(a)) & 0x7fffffffU)); };

// min and max treat −0 as smaller than +0. If one operand of min or max is NaN, the result is the
// other operand or, if kNan is true, NaN.
template <bool F, bool kNan>
constexpr auto min_f32 = [](float a, float b) {
  const float x = input<F>(a);
  const float y = input<F>(b);
  float result = x < y ? x : y;
  result = x == y ? bits_float(float_bits(x) | float_bits(y)) : result;
  result = x != x ? y : result;
  result = y != y ? (kNan ? y : x) : result;
  if (kNan) result = x != x ? x : result;
  return canonical(result);
};
template <bool F, bool kNan>
constexpr auto max_f32 = [](float a, float b) {
  const float x = input<F>(a);
  const float y = input<F>(b);
  float result = x > y ? x : y;
  result = x == y ? bits_float(float_bits(x) & float_bits(y)) : result;
  result = x != x ? y : result;
  result = y != y ? (kNan ? y : x) : result;
  if (kNan) result = x != x ? x : result;
  return canonical(result);
};
/// min or max with .xorsign.abs: F(|a|, |b|) with the product of the signs of a and b; a NaN has no
/// sign.
template <auto F>
constexpr auto xorsign_f32 = [](float a, float b) {
  const std::uint32_t sign = (float_bits(a) ^ float_bits(b)) & 0x80000000U;
  const float result =
      F(bits_float(float_bits(a) & 0x7fffffffU), bits_float(float_bits(b) & 0x7fffffffU));
  return bits_float(float_bits(result) | (result == result ? sign : 0U));
};
template <bool F>
constexpr auto div_f32 =
    [](float a, float b) { return output<F, false>(input<F>(a) / input<F>(b)); };

// Approximate reciprocals and divisions, computed from MUFU.RCP as in the machine code that ptxas
// generates. MUFU.RCP does not support subnormals, so the instructions without .ftz scale their
// operands. Divisors above 2^126, whose reciprocals are subnormal, are scaled, too, except in
// rcp.approx.ftz and div.approx.
constexpr float kLeastNormal = 0x1p-126F;
constexpr float kLargestInvertible = 0x1p126F;
constexpr float kUp = 0x1p24F;
constexpr float kDown = 0x1p-2F;
template <bool kFlush>
EVO_INLINE float reciprocal_scale(float x) {
  const float size = bits_float(float_bits(x) & 0x7fffffffU);
  return size > kLargestInvertible ? kDown : (!kFlush && size < kLeastNormal ? kUp : 1.0F);
}
template <bool F>
constexpr auto rcp_approx_f32 = [](float a) {
  if (F) return mufu_reciprocal(a);
  const float scale = reciprocal_scale<F>(a);
  return output<F, false>(mufu_reciprocal(a * scale) * scale);
};
template <bool F>
constexpr auto div_full_f32 = [](float a, float b) {
  const float scale = reciprocal_scale<F>(b);
  const float inverse = mufu_reciprocal(b * scale);
  return output<F, false>(input<F>(input<F>(a) * scale) * inverse);
};
// For finite dividends and divisors above 2^126, div.approx gives zero, because their reciprocal is
// flushed to zero.
template <bool F>
constexpr auto div_approx_f32 = [](float a, float b) {
  const float scaled = reciprocal_scale<F>(b);
  const float scale = scaled == kDown ? 1.0F : scaled;
  const float inverse = mufu_reciprocal(b * scale);
  return output<F, false>(input<F>(input<F>(a) * scale) * inverse);
};
template <bool F>
constexpr auto sqrt_f32 = [](float a) { return output<F, false>(__builtin_sqrtf(input<F>(a))); };
template <bool F>
constexpr auto rcp_rn_f32 = [](float a) { return output<F, false>(1.0F / input<F>(a)); };
template <bool F>
constexpr auto rsqrt_f32 = [](float a) {
  return output<F, false>(
      static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(input<F>(a)))));
};

// MUFU.EX2 flushes subnormals. If the result is subnormal, ex2.approx without .ftz computes ex2 of
// half the operand and squares it. Each step of ex2 has its own loop, because in a single loop the
// compiler would make the table lookup conditional, and then not vectorise the loop.
template <bool F>
void ex2_f32(Warp& warp, const Instr& in) {
  const auto& op = in.as<AluOperands>();
  float* dst = lane_register<float>(warp, op.dst);
  const float* a = lane_register<const float>(warp, op.src[0]);
  alignas(64) float operand[kWarpSize];
  alignas(64) std::int32_t fixed[kWarpSize];
  alignas(64) std::int32_t mantissa[kWarpSize];
  alignas(64) float value[kWarpSize];
#pragma GCC ivdep
  for (int l = 0; l < kWarpSize; ++l) operand[l] = !F && a[l] < -126.0F ? a[l] * 0.5F : a[l];
#pragma GCC ivdep
  for (int l = 0; l < kWarpSize; ++l) fixed[l] = mufu_exp2_fixed(operand[l]);
#pragma GCC ivdep
  for (int l = 0; l < kWarpSize; ++l) mantissa[l] = mufu_exp2_mantissa(fixed[l] & 0x7fffff);
#pragma GCC ivdep
  for (int l = 0; l < kWarpSize; ++l) {
    const float result = mufu_exp2_result(operand[l], fixed[l], mantissa[l]);
    value[l] = !F && a[l] < -126.0F ? result * result : result;
  }
  blend(dst, value, warp.exec);
}
template <bool F>
constexpr auto lg2_f32 = [](float a) {
  return output<F, false>(static_cast<float>(__builtin_log2(static_cast<double>(input<F>(a)))));
};
template <bool F>
constexpr auto sin_f32 = [](float a) {
  return output<F, false>(static_cast<float>(__builtin_sin(static_cast<double>(input<F>(a)))));
};
template <bool F>
constexpr auto cos_f32 = [](float a) {
  return output<F, false>(static_cast<float>(__builtin_cos(static_cast<double>(input<F>(a)))));
};
constexpr auto tanh_f32 = [](float a) {
  return canonical(static_cast<float>(__builtin_tanh(static_cast<double>(a))));
};
constexpr auto copysign_f32 = [](float a, float b) {
  return bits_float((float_bits(a) & 0x80000000U) | (float_bits(b) & 0x7fffffffU));
};

constexpr auto add_f64 = [](double a, double b) { return a + b; };
constexpr auto sub_f64 = [](double a, double b) { return a - b; };
constexpr auto mul_f64 = [](double a, double b) { return a * b; };
constexpr auto fma_f64 = [](double a, double b, double c) { return __builtin_fma(a, b, c); };
constexpr auto div_f64 = [](double a, double b) { return a / b; };
constexpr auto sqrt_f64 = [](double a) { return __builtin_sqrt(a); };
constexpr auto rcp_f64 = [](double a) { return 1.0 / a; };
constexpr auto rsqrt_f64 = [](double a) { return 1.0 / __builtin_sqrt(a); };
constexpr auto neg_f64 = [](double a) { return -a; };
constexpr auto abs_f64 = [](double a) { return __builtin_fabs(a); };
constexpr auto min_f64 = [](double a, double b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __builtin_signbit(a) ? a : b;
  return a < b ? a : b;
};
constexpr auto max_f64 = [](double a, double b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return a > b ? a : b;
};
constexpr auto copysign_f64 = [](double a, double b) { return __builtin_copysign(b, a); };
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use only the upper 32 bits of the operand, and the
// lower 32 bits of their result are zero.
constexpr auto rcp_approx_f64 = [](double a) {
  const double x =
      __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, a) & 0xffffffff00000000ULL);
  return __builtin_bit_cast(double,
                            __builtin_bit_cast(std::uint64_t, 1.0 / x) & 0xffffffff00000000ULL);
};
constexpr auto rsqrt_approx_f64 = [](double a) {
  const double x =
      __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, a) & 0xffffffff00000000ULL);
  return __builtin_bit_cast(
      double, __builtin_bit_cast(std::uint64_t, 1.0 / __builtin_sqrt(x)) & 0xffffffff00000000ULL);
};

// Lists of types are built by a function, because the constructor of a constant list would run
// before the CPU's instruction set has been checked.
std::vector<Type> floats(std::size_t count) { return std::vector<Type>(count, Type::kF32); }

template <bool F, bool kNan>
void register_extremes(AluTable& table, const std::string& modifiers) {
  const auto two = [&](const std::string& name, Handler fn) {
    table.add(name + ".f32", fn, Type::kF32, floats(2));
  };
  two("min" + modifiers, binary<float, float, float, min_f32<F, kNan>>);
  two("max" + modifiers, binary<float, float, float, max_f32<F, kNan>>);
  const std::string xorsign = modifiers + ".xorsign.abs";
  two("min" + xorsign, binary<float, float, float, xorsign_f32<min_f32<F, kNan>>>);
  two("max" + xorsign, binary<float, float, float, xorsign_f32<max_f32<F, kNan>>>);
}

template <bool F>
void register_f32_approximations(AluTable& table) {
  const std::string f = F ? ".ftz.f32" : ".f32";
  const auto mufu = [&](const std::string& name, Handler fn) {
    table.add(name + f, fn, Type::kF32, floats(1), TaintRule::kAny, Pipe::kMufu);
  };
  mufu("ex2.approx", ex2_f32<F>);
  mufu("lg2.approx", unary<float, float, lg2_f32<F>>);
  mufu("sin.approx", unary<float, float, sin_f32<F>>);
  mufu("cos.approx", unary<float, float, cos_f32<F>>);
  mufu("rcp.approx", unary<float, float, rcp_approx_f32<F>>);
  mufu("rcp.rn", unary<float, float, rcp_rn_f32<F>>);
  mufu("rsqrt.approx", unary<float, float, rsqrt_f32<F>>);
  mufu("sqrt.approx", unary<float, float, sqrt_f32<F>>);
  mufu("sqrt.rn", unary<float, float, sqrt_f32<F>>);
  table.add("div.rn" + f, binary<float, float, float, div_f32<F>>, Type::kF32, floats(2),
            TaintRule::kAny, Pipe::kMufu);
  table.add("div.full" + f, binary<float, float, float, div_full_f32<F>>, Type::kF32, floats(2),
            TaintRule::kAny, Pipe::kMufu);
  table.add("div.approx" + f, binary<float, float, float, div_approx_f32<F>>, Type::kF32, floats(2),
            TaintRule::kAny, Pipe::kMufu);
  table.add("neg" + f, unary<float, float, neg_f32<F>>, Type::kF32, floats(1));
  table.add("abs" + f, unary<float, float, abs_f32<F>>, Type::kF32, floats(1));
  register_extremes<F, false>(table, F ? ".ftz" : "");
  register_extremes<F, true>(table, F ? ".ftz.NaN" : ".NaN");
}

template <bool F, bool S>
void register_f32_arithmetic(AluTable& table) {
  const std::string f = std::string(F ? ".ftz" : "") + (S ? ".sat" : "") + ".f32";
  for (const char* rounding : {"", ".rn"}) {
    table.add(std::string("add") + rounding + f, binary<float, float, float, add_f32<F, S>>,
              Type::kF32, floats(2), TaintRule::kAny, Pipe::kFma);
    table.add(std::string("sub") + rounding + f, binary<float, float, float, sub_f32<F, S>>,
              Type::kF32, floats(2), TaintRule::kAny, Pipe::kFma);
    table.add(std::string("mul") + rounding + f, binary<float, float, float, mul_f32<F, S>>,
              Type::kF32, floats(2), TaintRule::kAny, Pipe::kFma);
  }
  table.add("fma.rn" + f, ternary<float, float, float, float, fma_f32<F, S>>, Type::kF32, floats(3),
            TaintRule::kAny, Pipe::kFma);
  table.add("mad.rn" + f, ternary<float, float, float, float, fma_f32<F, S>>, Type::kF32, floats(3),
            TaintRule::kAny, Pipe::kFma);
}

void register_f64(AluTable& table) {
  const Type d = Type::kF64;
  const auto one = [&](const std::string& name, Handler fn) {
    table.add(name, fn, d, {d}, TaintRule::kAny, Pipe::kFp64);
  };
  const auto two = [&](const std::string& name, Handler fn) {
    table.add(name, fn, d, {d, d}, TaintRule::kAny, Pipe::kFp64);
  };
  for (const char* rounding : {"", ".rn"}) {
    two(std::string("add") + rounding + ".f64", binary<double, double, double, add_f64>);
    two(std::string("sub") + rounding + ".f64", binary<double, double, double, sub_f64>);
    two(std::string("mul") + rounding + ".f64", binary<double, double, double, mul_f64>);
  }
  table.add("fma.rn.f64", ternary<double, double, double, double, fma_f64>, d, {d, d, d},
            TaintRule::kAny, Pipe::kFp64);
  table.add("mad.rn.f64", ternary<double, double, double, double, fma_f64>, d, {d, d, d},
            TaintRule::kAny, Pipe::kFp64);
  two("div.rn.f64", binary<double, double, double, div_f64>);
  two("min.f64", binary<double, double, double, min_f64>);
  two("max.f64", binary<double, double, double, max_f64>);
  two("copysign.f64", binary<double, double, double, copysign_f64>);
  one("sqrt.rn.f64", unary<double, double, sqrt_f64>);
  one("rcp.rn.f64", unary<double, double, rcp_f64>);
  one("rcp.approx.ftz.f64", unary<double, double, rcp_approx_f64>);
  one("rsqrt.approx.ftz.f64", unary<double, double, rsqrt_approx_f64>);
  one("rsqrt.approx.f64", unary<double, double, rsqrt_f64>);
  one("neg.f64", unary<double, double, neg_f64>);
  one("abs.f64", unary<double, double, abs_f64>);
}

}  // namespace

void register_float(AluTable& table) {
  register_f32_approximations<false>(table);
  register_f32_approximations<true>(table);
  register_f32_arithmetic<false, false>(table);
  register_f32_arithmetic<false, true>(table);
  register_f32_arithmetic<true, false>(table);
  register_f32_arithmetic<true, true>(table);
  table.add("tanh.approx.f32", unary<float, float, tanh_f32>, Type::kF32, floats(1),
            TaintRule::kAny, Pipe::kMufu);
  table.add("copysign.f32", binary<float, float, float, copysign_f32>, Type::kF32, floats(2));
  register_f64(table);
}

}  // namespace evo::ptx::EVO_SIMD
