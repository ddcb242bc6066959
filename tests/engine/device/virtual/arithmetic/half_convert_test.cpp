// Compares conversions to f16 and bf16, saturating conversions of integers, and f16 arithmetic with
// .ftz with formulas that compute exactly in long double and round once.
#include <algorithm>
#include <functional>

#include "tests/engine/device/virtual/arithmetic/formulas.hpp"

namespace evo::test {
namespace {

using Real = long double;  // holds 64-bit integers, doubles, and sums and products of halves

struct NarrowFormat {
  const char* name;
  int digits;
  int least_exponent;
  U32 infinity;
};
const NarrowFormat kF16{"f16", 11, -14, 0x7c00U};
const NarrowFormat kBf16{"bf16", 8, -126, 0x7f80U};

/// The bits of `value` rounded to a 16-bit format; `mode`: rn, rz, rm or rp.
U32 rounded(const NarrowFormat& format, const std::string& mode, Real value) {
  const U32 sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return 0x7fffU;
  if (std::isinf(value)) return sign | format.infinity;
  if (value == 0) return sign;
  const auto unit_of = [&](Real x) {
    return std::max(std::ilogb(x), format.least_exponent) - format.digits + 1;
  };
  Real units = std::ldexp(value, -unit_of(value));
  if (mode == "rn") units = std::nearbyint(units);
  if (mode == "rz") units = std::trunc(units);
  if (mode == "rm") units = std::floor(units);
  if (mode == "rp") units = std::ceil(units);
  const Real result = std::ldexp(units, unit_of(value));
  if (result == 0) return sign;
  const int unit = unit_of(result);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::abs(result), -unit));
  const int exponent = unit + format.digits - 1 - format.least_exponent;
  const U32 bits =
      static_cast<U32>((static_cast<std::uint64_t>(exponent) << (format.digits - 1)) + mantissa);
  if (bits < format.infinity) return sign | bits;
  const bool to_infinity =
      mode == "rn" || (mode == "rp" && sign == 0) || (mode == "rm" && sign != 0);
  return sign | (format.infinity - (to_infinity ? 0U : 1U));
}

std::uint64_t pair_of(U32 low, U32 high) { return std::uint64_t{high} << 32 | low; }

/// An f64 NaN as an H200 converts it: quiet, with its sign and the beginning of its payload.
U32 narrow_nan(const NarrowFormat& format, std::uint64_t bits) {
  const U32 quiet = 1U << (format.digits - 2);
  const auto payload = static_cast<U32>(bits >> (53 - format.digits)) & (quiet - 1);
  return (bits >> 63 != 0 ? 0x8000U : 0U) | format.infinity | quiet | payload;
}

/// The integer of `type` in the lowest bits of `bits`.
Real integer_of(const std::string& type, std::uint64_t bits) {
  const int unused = 64 - std::stoi(type.substr(1));
  const std::uint64_t high = bits << unused;
  if (type[0] == 's') return static_cast<Real>(static_cast<std::int64_t>(high) >> unused);
  return static_cast<Real>(high >> unused);
}

const std::string kHalfRegisters = ".reg .b16 %h<4>;\n.reg .b64 %l<2>;\n.reg .f64 %d;\n";
const std::string kStoreHalf = "\nmov.b32 %r4, {%h3, 0};";

TEST(ConversionsToHalves, OfIntegersRoundOnce) {
  for (const NarrowFormat& format : {kF16, kBf16}) {
    for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
      for (const std::string type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
        const std::string source = type.substr(1) == "64"   ? "%l1"
                                   : type.substr(1) == "32" ? "%r1"
                                                            : "%h1";
        expect_formula(kHalfRegisters + "mov.b32 {%h1, _}, %r1;\nmov.b64 %l1, {%r1, %r2};\ncvt." +
                           mode + "." + format.name + "." + type + " %h3, " + source + ";" +
                           kStoreHalf,
                       [&](U32 a, U32 b, U32) {
                         return rounded(format, mode, integer_of(type, pair_of(a, b)));
                       });
      }
    }
  }
}

Real float_of(U32 bits) { return std::bit_cast<float>(bits); }
Real double_of(std::uint64_t bits) { return static_cast<Real>(std::bit_cast<double>(bits)); }

TEST(ConversionsToHalves, OfFloatsRoundOnce) {
  for (const NarrowFormat& format : {kF16, kBf16}) {
    const std::string end = std::string(".") + format.name;
    const bool is_half = format.digits == 11;
    for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
      const std::string cvt = "cvt." + mode + end;
      // Random exponents, then exponents at which f16 is finite, then values halfway between.
      for (const auto& [mask, base] :
           {std::pair{~0U, 0U}, std::pair{0x8fffffffU, 0x38000000U},
            std::pair{0x8ffff000U, 0x38000000U}, std::pair{0xffff8000U, 0U}}) {
        const auto operand = [mask = mask, base = base](U32 a) { return (a & mask) + base; };
        const std::string start = kHalfRegisters + "and.b32 %r1, %r1, " + std::to_string(mask) +
                                  ";\nadd.u32 %r1, %r1, " + std::to_string(base) +
                                  ";\nmov.b32 %f1, %r1;\n";
        expect_formula(start + cvt + ".f32 %h3, %f1;" + kStoreHalf, [&](U32 a, U32, U32) {
          return rounded(format, mode, float_of(operand(a)));
        });
        expect_formula(start + "cvt." + mode + ".sat" + end + ".f32 %h3, %f1;" + kStoreHalf,
                       [&](U32 a, U32, U32) {
                         const Real value = float_of(operand(a));
                         const bool is_above = value > 0;
                         return rounded(format, mode, is_above ? std::min(value, Real{1}) : 0);
                       });
      }
      expect_formula(kHalfRegisters + "mov.b32 {%h1, _}, %r1;\ncvt." + mode + end + "." +
                         (is_half ? "bf16" : "f16") + " %h3, %h1;" + kStoreHalf,
                     [&](U32 a, U32, U32) {
                       const U32 half = a & 0xffffU;
                       const double value = is_half ? value_of_bfloat(half) : value_of_half(half);
                       return rounded(format, mode, static_cast<Real>(value));
                     });
      const auto high = [](U32 a) { return (a & 0x83ffffffU) + 0x3e000000U; };
      expect_formula(
          kHalfRegisters +
              "and.b32 %r1, %r1, 0x83ffffff;\nadd.u32 %r1, %r1, 0x3e000000;\n"
              "mov.b64 %d, {%r2, %r1};\n" +
              cvt + ".f64 %h3, %d;" + kStoreHalf,
          [&](U32 a, U32 b, U32) { return rounded(format, mode, double_of(pair_of(b, high(a)))); });
      expect_formula(
          kHalfRegisters + "mov.b64 %d, {%r2, %r1};\n" + cvt + ".f64 %h3, %d;" + kStoreHalf,
          [&](U32 a, U32 b, U32) {
            const Real value = double_of(pair_of(b, a));
            if (std::isnan(value)) return narrow_nan(format, pair_of(b, a));
            return rounded(format, mode, value);
          });
    }
  }
}

TEST(ConversionsToHalves, RoundToIntegralValuesThatSaturate) {
  expect_formula(
      kHalfRegisters + "mov.b32 {%h1, _}, %r1;\ncvt.rni.sat.f16.f16 %h3, %h1;" + kStoreHalf,
      [](U32 a, U32, U32) { return value_of_half(a & 0xffffU) > 0.5 ? 0x3c00U : 0U; });
}

TEST(ConversionsToHalves, SaturateToFiniteNumbersAndCutNegativeOnes) {
  for (const NarrowFormat& format : {kF16, kBf16}) {
    for (const std::string mode : {"rn", "rz"}) {
      for (const std::string ending : {"", ".relu", ".satfinite", ".relu.satfinite"}) {
        const auto element = [&](U32 bits) {
          const Real value = float_of(bits);
          const bool is_cut = ending.find("relu") != std::string::npos && value <= 0;
          const U32 half = rounded(format, mode, is_cut ? Real{0} : value);
          const bool is_infinite = (half & 0x7fffU) == format.infinity;
          return is_infinite && ending.find("satfinite") != std::string::npos ? half - 1 : half;
        };
        const std::string cvt = "cvt." + mode + ending + "." + format.name;
        expect_formula(cvt + "x2.f32 %r4, %f1, %f2;",
                       [&](U32 a, U32 b, U32) { return element(a) << 16 | element(b); });
        expect_formula(kHalfRegisters + cvt + ".f32 %h3, %f1;" + kStoreHalf,
                       [&](U32 a, U32, U32) { return element(a); });
      }
    }
  }
}

TEST(ConversionsToFp8, AreTheSameFromHalvesAndFromFloats) {
  for (const std::string mode : {"cvt.rn.satfinite.", "cvt.rn.satfinite.relu."}) {
    for (const std::string type : {"e4m3x2", "e5m2x2"}) {
      expect_formula(kHalfRegisters + "mov.b32 {%h1, %h2}, %r1;\ncvt.f32.f16 %f1, %h1;\n" +
                         "cvt.f32.f16 %f2, %h2;\n" + mode + type + ".f32 %h3, %f2, %f1;\n" + mode +
                         type + ".f16x2 %h2, %r1;\nxor.b16 %h3, %h3, %h2;" + kStoreHalf,
                     [](U32, U32, U32) { return 0U; });
    }
  }
}

TEST(ConversionsOfIntegers, Saturate) {
  const std::string types[] = {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
  for (const std::string& to : types) {
    for (const std::string& from : types) {
      const int bits = std::stoi(to.substr(1));
      const bool is_wide = bits == 64;
      const std::string line =
          kHalfRegisters + "mov.b64 %l1, {%r1, %r2};\ncvt.sat." + to + "." + from +
          (is_wide ? " %l0, " : " %r4, ") + (from.substr(1) == "64" ? "%l1;" : "%r1;") +
          (is_wide ? "\nmov.b64 {%r4, %r6}, %l0;\nxor.b32 %r4, %r4, %r6;" : "");
      expect_formula(line, [&](U32 a, U32 b, U32) {
        const bool is_signed = to[0] == 's';
        const Real least = is_signed ? -std::ldexp(Real{1}, bits - 1) : 0;
        const Real most = std::ldexp(Real{1}, is_signed ? bits - 1 : bits) - 1;
        const Real value = std::clamp(integer_of(from, pair_of(a, b)), least, most);
        const auto result = value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                      : static_cast<std::uint64_t>(value);
        return static_cast<U32>(result ^ (is_wide ? result >> 32 : 0));
      });
    }
  }
}

TEST(ArithmeticOfHalves, FlushesSubnormalsWithFtz) {
  using Element = std::function<U32(U32, U32)>;
  const auto flush = [](U32 half) { return (half & 0x7c00U) == 0 ? half & 0x8000U : half; };
  const auto is_nan = [](U32 half) { return (half & 0x7fffU) > 0x7c00U; };
  const auto expect = [&](const std::string& line, const Element& element) {
    expect_formula(line, [&](U32 a, U32 b, U32) {
      const U32 low = element(flush(a & 0xffffU), flush(b & 0xffffU));
      return element(flush(a >> 16), flush(b >> 16)) << 16 | low;
    });
  };
  expect("neg.ftz.f16x2 %r4, %r1;", [&](U32 a, U32) { return is_nan(a) ? 0x7fffU : a ^ 0x8000U; });
  expect("abs.ftz.f16x2 %r4, %r1;", [&](U32 a, U32) { return is_nan(a) ? 0x7fffU : a & 0x7fffU; });
  for (const bool is_max : {false, true}) {
    for (const bool keeps_nan : {false, true}) {
      const std::string name =
          std::string(is_max ? "max" : "min") + (keeps_nan ? ".ftz.NaN" : ".ftz");
      expect(name + ".f16x2 %r4, %r1, %r2;", [&](U32 a, U32 b) {
        if (is_nan(a) || is_nan(b))
          return keeps_nan || (is_nan(a) && is_nan(b)) ? 0x7fffU : is_nan(a) ? b : a;
        const double x = value_of_half(a);
        const double y = value_of_half(b);
        if (x == y) return is_max ? a & b : a | b;
        return (x > y) == is_max ? a : b;
      });
    }
  }
  const auto expect_sum = [&](const std::string& line, bool saturates, Real (*exact)(Real, Real)) {
    expect(line, [&](U32 a, U32 b) {
      const Real value =
          exact(static_cast<Real>(value_of_half(a)), static_cast<Real>(value_of_half(b)));
      const U32 result = flush(rounded(kF16, "rn", value));
      if (is_nan(result)) return saturates ? 0U : 0x7fffU;
      if ((result & 0x8000U) != 0) return 0U;
      return saturates ? std::min(result, U32{0x3c00U}) : result;
    });
  };
  expect_sum("add.ftz.sat.f16x2 %r4, %r1, %r2;", true, [](Real x, Real y) { return x + y; });
  expect_sum("sub.rn.ftz.sat.f16x2 %r4, %r1, %r2;", true, [](Real x, Real y) { return x - y; });
  expect_sum("mul.ftz.sat.f16x2 %r4, %r1, %r2;", true, [](Real x, Real y) { return x * y; });
  expect_sum("mov.u32 %r6, 0;\nfma.rn.ftz.relu.f16x2 %r4, %r1, %r2, %r6;", false,
             [](Real x, Real y) { return x * y; });
}

}  // namespace
}  // namespace evo::test
