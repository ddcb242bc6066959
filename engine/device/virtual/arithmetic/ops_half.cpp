#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
#include "engine/device/virtual/arithmetic/simd_lanes.hpp"
// clang-format on
#include "engine/device/virtual/arithmetic/mufu.hpp"

// Handlers of f16 and bf16 arithmetic, single and in pairs. Sums and products are computed in f32
// and then rounded to 16 bits. The two roundings give the same result as a single rounding, because
// an f32 has more than twice the digits of the 16-bit types. Fused multiply-adds are computed in
// double, and a sticky bit records whether digits were lost.

namespace evo::ptx::EVO_SIMD {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct Half {
  static EVO_INLINE float widen(U16 value) { return half_to_float(value); }
  static EVO_INLINE U16 narrow(float value) { return float_to_half(value); }
  static EVO_INLINE U16 cut(float value) {
    return value >= 65536.0F ? U16{0x7c00} : float_to_half_rz(value);
  }
  static EVO_INLINE U16 flush(U16 value) {
    return static_cast<U16>((value & 0x7c00U) == 0 ? value & 0x8000U : value);
  }
};
struct Bfloat {
  static EVO_INLINE float widen(U16 value) { return bfloat_to_float(value); }
  static EVO_INLINE U16 narrow(float value) { return float_to_bfloat(value); }
  static EVO_INLINE U16 cut(float value) { return float_to_bfloat_rz(value); }
  static EVO_INLINE U16 flush(U16 value) { return value; }
};

/// a·b + c, rounded to odd in f32. Rounding the sum to odd in f32 and then to 16 bits equals
/// rounding the exact sum to 16 bits.
EVO_INLINE float fma_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  std::uint64_t bits = __builtin_bit_cast(std::uint64_t, sum);
  const bool inexact = error != 0.0 && sum - sum == 0.0;
  const bool away = inexact && ((error < 0.0) == (sum > 0.0));
  bits = away ? bits - 1 : bits;
  bits |= inexact ? 1U : 0U;
  sum = __builtin_bit_cast(double, bits);
  // Rounds to odd a second time, from double to float.
  auto narrow = static_cast<float>(sum);
  const double back = static_cast<double>(narrow);
  std::uint32_t word = float_bits(narrow);
  const bool finite = (word & 0x7f800000U) != 0x7f800000U;
  const bool cut = back != sum && sum == sum && finite;
  const bool larger = (back < 0 ? -back : back) > (sum < 0 ? -sum : sum);
  word = cut && larger ? word - 1 : word;
  word |= cut ? 1U : 0U;
  narrow = bits_float(word);
  return narrow;
}

EVO_INLINE U16 saturate_half(U16 value) {
  const U16 low = (value & 0x8000U) != 0 || (value & 0x7fffU) > 0x7c00U ? U16{0} : value;
  return low > 0x3c00U ? U16{0x3c00U} : low;
}
EVO_INLINE U16 relu_half(U16 value) { return (value & 0x8000U) != 0 ? U16{0} : value; }

enum class After { kNothing, kSaturate, kRelu };
template <After kAfter>
EVO_INLINE U16 finish(U16 value) {
  if (kAfter == After::kSaturate) return saturate_half(value);
  if (kAfter == After::kRelu) return relu_half(value);
  return value;
}

template <typename T, bool F>
EVO_INLINE float in(U16 value) {
  return T::widen(F ? T::flush(value) : value);
}
template <typename T, bool F, After A>
EVO_INLINE U16 out(float value) {
  const U16 narrow = T::narrow(value);
  return finish<A>(F ? T::flush(narrow) : narrow);
}

template <typename T, bool F, After A>
constexpr auto add_h = [](U16 a, U16 b) { return out<T, F, A>(in<T, F>(a) + in<T, F>(b)); };
template <typename T, bool F, After A>
constexpr auto sub_h = [](U16 a, U16 b) { return out<T, F, A>(in<T, F>(a) - in<T, F>(b)); };
template <typename T, bool F, After A>
constexpr auto mul_h = [](U16 a, U16 b) { return out<T, F, A>(in<T, F>(a) * in<T, F>(b)); };
template <typename T, bool F, After A>
constexpr auto fma_h = [](U16 a, U16 b, U16 c) {
  return out<T, F, A>(fma_to_odd(in<T, F>(a), in<T, F>(b), in<T, F>(c)));
};
template <typename T, bool F, bool kMax, bool kNan>
constexpr auto extreme_h = [](U16 first, U16 second) {
  const U16 a = F ? T::flush(first) : first;
  const U16 b = F ? T::flush(second) : second;
  const float x = T::widen(a);
  const float y = T::widen(b);
  U16 result = (kMax ? x > y : x < y) ? a : b;
  result = x == y ? static_cast<U16>(kMax ? a & b : a | b) : result;
  result = x != x ? b : result;
  result = y != y ? (kNan ? b : a) : result;
  if (kNan) result = x != x ? a : result;
  return T::widen(result) == T::widen(result) ? result : U16{0x7fff};
};
// neg and abs return the canonical NaN for a NaN, because the hardware implements them as an
// addition of −0.
template <typename T, bool F>
constexpr auto neg_h = [](U16 a) {
  const U16 number = F ? T::flush(a) : a;
  return T::widen(a) == T::widen(a) ? static_cast<U16>(number ^ 0x8000U) : U16{0x7fff};
};
template <typename T, bool F>
constexpr auto abs_h = [](U16 a) {
  const U16 number = F ? T::flush(a) : a;
  return T::widen(a) == T::widen(a) ? static_cast<U16>(number & 0x7fffU) : U16{0x7fff};
};
// For ex2 and tanh, the hardware truncates the f32 result to 16 bits.
template <typename T>
constexpr auto ex2_h = [](U16 a) { return T::cut(mufu_exp2(T::widen(a))); };
template <typename T>
constexpr auto tanh_h = [](U16 a) {
  return T::cut(static_cast<float>(__builtin_tanh(static_cast<double>(T::widen(a)))));
};

/// Applies a 16-bit operation to both halves of a register.
template <auto F>
constexpr auto pair1 = [](U32 a) {
  return static_cast<U32>(F(static_cast<U16>(a))) | static_cast<U32>(F(static_cast<U16>(a >> 16)))
                                                        << 16;
};
template <auto F>
constexpr auto pair2 = [](U32 a, U32 b) {
  return static_cast<U32>(F(static_cast<U16>(a), static_cast<U16>(b))) |
         static_cast<U32>(F(static_cast<U16>(a >> 16), static_cast<U16>(b >> 16))) << 16;
};
template <auto F>
constexpr auto pair3 = [](U32 a, U32 b, U32 c) {
  return static_cast<U32>(F(static_cast<U16>(a), static_cast<U16>(b), static_cast<U16>(c))) |
         static_cast<U32>(
             F(static_cast<U16>(a >> 16), static_cast<U16>(b >> 16), static_cast<U16>(c >> 16)))
             << 16;
};

template <auto F>
void add_unary(AluTable& table, const std::string& name, const std::string& type) {
  table.add(name + "." + type, unary<U16, U16, F>, Type::kB16, {Type::kB16}, TaintRule::kAny,
            Pipe::kHalf);
  table.add(name + "." + type + "x2", unary<U32, U32, pair1<F>>, Type::kB32, {Type::kB32},
            TaintRule::kAny, Pipe::kHalf);
}
template <auto F>
void add_binary(AluTable& table, const std::string& name, const std::string& type) {
  table.add(name + "." + type, binary<U16, U16, U16, F>, Type::kB16,
            std::vector<Type>(2, Type::kB16), TaintRule::kAny, Pipe::kHalf);
  table.add(name + "." + type + "x2", binary<U32, U32, U32, pair2<F>>, Type::kB32,
            std::vector<Type>(2, Type::kB32), TaintRule::kAny, Pipe::kHalf);
}
template <auto F>
void add_ternary(AluTable& table, const std::string& name, const std::string& type) {
  table.add(name + "." + type, ternary<U16, U16, U16, U16, F>, Type::kB16,
            std::vector<Type>(3, Type::kB16), TaintRule::kAny, Pipe::kHalf);
  table.add(name + "." + type + "x2", ternary<U32, U32, U32, U32, pair3<F>>, Type::kB32,
            std::vector<Type>(3, Type::kB32), TaintRule::kAny, Pipe::kHalf);
}

template <typename T, bool F, After A>
void register_arithmetic(AluTable& table, const std::string& type, const std::string& modifiers) {
  for (const char* rounding : {"", ".rn"}) {
    if (A != After::kRelu) {
      add_binary<add_h<T, F, A>>(table, std::string("add") + rounding + modifiers, type);
      add_binary<sub_h<T, F, A>>(table, std::string("sub") + rounding + modifiers, type);
      add_binary<mul_h<T, F, A>>(table, std::string("mul") + rounding + modifiers, type);
    }
  }
  add_ternary<fma_h<T, F, A>>(table, "fma.rn" + modifiers, type);
}

template <typename T, bool F>
void register_exact(AluTable& table, const std::string& type) {
  const std::string f = F ? ".ftz" : "";
  add_binary<extreme_h<T, F, false, false>>(table, "min" + f, type);
  add_binary<extreme_h<T, F, true, false>>(table, "max" + f, type);
  add_binary<extreme_h<T, F, false, true>>(table, "min" + f + ".NaN", type);
  add_binary<extreme_h<T, F, true, true>>(table, "max" + f + ".NaN", type);
  add_unary<neg_h<T, F>>(table, "neg" + f, type);
  add_unary<abs_h<T, F>>(table, "abs" + f, type);
}

template <typename T>
void register_rest(AluTable& table, const std::string& type) {
  register_exact<T, false>(table, type);
  add_unary<ex2_h<T>>(table, type == "f16" ? "ex2.approx" : "ex2.approx.ftz", type);
  add_unary<tanh_h<T>>(table, "tanh.approx", type);
}

}  // namespace

void register_half(AluTable& table) {
  register_arithmetic<Half, false, After::kNothing>(table, "f16", "");
  register_arithmetic<Half, true, After::kNothing>(table, "f16", ".ftz");
  register_arithmetic<Half, false, After::kSaturate>(table, "f16", ".sat");
  register_arithmetic<Half, false, After::kRelu>(table, "f16", ".relu");
  register_arithmetic<Half, true, After::kSaturate>(table, "f16", ".ftz.sat");
  register_arithmetic<Half, true, After::kRelu>(table, "f16", ".ftz.relu");
  register_exact<Half, true>(table, "f16");
  register_arithmetic<Bfloat, false, After::kNothing>(table, "bf16", "");
  register_arithmetic<Bfloat, false, After::kRelu>(table, "bf16", ".relu");
  register_rest<Half>(table, "f16");
  register_rest<Bfloat>(table, "bf16");
}

}  // namespace evo::ptx::EVO_SIMD
