// Compares instructions that compilers rarely emit with formulas, for random operands and edge
// cases. The values for fns are those that ptxas computes for constant operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "tests/engine/device/virtual/arithmetic/formulas.hpp"

namespace evo::test {
namespace {

std::int64_t as_signed(U32 word) { return static_cast<std::int32_t>(word); }

U32 word_of(std::int64_t value) { return static_cast<U32>(static_cast<std::uint64_t>(value)); }

TEST(PackedConversions, SaturateAndPutTheFirstOperandAboveTheSecond) {
  for (const int bits : {2, 4, 8, 16}) {
    for (const bool is_signed : {false, true}) {
      const std::string type = (is_signed ? "s" : "u") + std::to_string(bits);
      const auto packed = [&](U32 a, U32 b, U32 c) {
        const std::int64_t least = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
        const std::int64_t most = least + (std::int64_t{1} << bits) - 1;
        const std::int64_t modulus = std::int64_t{1} << bits;
        const auto cut = [&](U32 word) {
          return (std::clamp(as_signed(word), least, most) + modulus) % modulus;
        };
        const std::int64_t pair = cut(a) * modulus + cut(b);
        return word_of(bits == 16 ? pair : pair + std::int64_t{c} * modulus * modulus);
      };
      expect_formula("cvt.pack.sat." + type + ".s32" +
                         (bits == 16 ? " %r4, %r1, %r2;" : ".b32 %r4, %r1, %r2, %r3;"),
                     packed);
    }
  }
}

/// Combines the results of `element` for each element of `bits` bits, seen as an unsigned number.
U32 by_elements(U32 a, U32 b, int bits, const std::function<std::int64_t(U32, U32)>& element) {
  const U32 mask = (1U << bits) - 1;
  U32 all = 0;
  for (int at = 0; at < 32; at += bits)
    all |= (word_of(element((a >> at) & mask, (b >> at) & mask)) & mask) << at;
  return all;
}

TEST(VideoInstructions, GiveAbsoluteDifferencesOrAddThem) {
  for (const int count : {2, 4}) {
    const int bits = 32 / count;
    const std::string name = "vabsdiff" + std::to_string(count) + ".u32.u32.u32";
    const auto difference = [](U32 x, U32 y) { return std::abs(std::int64_t{x} - y); };
    expect_formula(name + " %r4, %r1, %r2, %r3;",
                   [&](U32 a, U32 b, U32) { return by_elements(a, b, bits, difference); });
    expect_formula(name + ".add %r4, %r1, %r2, %r3;", [&](U32 a, U32 b, U32 c) {
      by_elements(a, b, bits, [&](U32 x, U32 y) {
        c += word_of(difference(x, y));
        return 0;
      });
      return c;
    });
  }
}

TEST(PairsOfShortIntegers, AreAddedAndCompared) {
  const auto value = [](bool is_signed, U32 half) {
    return is_signed ? std::int64_t{static_cast<std::int16_t>(half)} : std::int64_t{half};
  };
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s16x2" : ".u16x2";
    const auto expect = [&](const std::string& name, const auto& element) {
      expect_formula(name + " %r4, %r1, %r2;", [&](U32 a, U32 b, U32) {
        return by_elements(a, b, 16, [&](U32 x, U32 y) {
          return std::int64_t{element(value(is_signed, x), value(is_signed, y))};
        });
      });
    };
    using S64 = std::int64_t;
    expect("add" + type, [](S64 x, S64 y) { return x + y; });
    expect("min" + type, [](S64 x, S64 y) { return std::min(x, y); });
    expect("max" + type, [](S64 x, S64 y) { return std::max(x, y); });
    if (!is_signed) continue;
    for (const std::string& suffix : {type + ".relu", ".relu" + type}) {
      expect("min" + suffix, [](S64 x, S64 y) { return std::max(std::min(x, y), S64{0}); });
      expect("max" + suffix, [](S64 x, S64 y) { return std::max({x, y, S64{0}}); });
    }
  }
  expect_formula("max.s32.relu %r4, %r1, %r2;", [](U32 a, U32 b, U32) {
    return word_of(std::max({as_signed(a), as_signed(b), std::int64_t{0}}));
  });
  expect_formula("min.relu.s32 %r4, %r1, %r2;", [](U32 a, U32 b, U32) {
    return word_of(std::max(std::min(as_signed(a), as_signed(b)), std::int64_t{0}));
  });
}

TEST(SignExtension, OfTheLowestBitsClampsOrWrapsTheirNumber) {
  for (const bool is_signed : {false, true}) {
    for (const bool clamps : {false, true}) {
      const std::string line = std::string("szext.") + (clamps ? "clamp" : "wrap") +
                               (is_signed ? ".s32" : ".u32") + " %r4, %r1, %r2;";
      expect_formula(line, [&](U32 a, U32 b, U32) {
        const U32 bits = clamps ? std::min(b, U32{32}) : b % 32;
        const std::int64_t modulus = std::int64_t{1} << bits;
        const std::int64_t low = std::int64_t{a} % modulus;
        return word_of(is_signed && bits > 0 && low >= modulus / 2 ? low - modulus : low);
      });
    }
  }
}

TEST(NthOne, IsFoundUpwardsAndDownwards) {
  const auto find = [](U32 mask, std::int64_t base, std::int64_t n) -> U32 {
    if (base < 0 || base > 31) return ~0U;
    if (n == 0) return ((mask >> base) & 1U) != 0 ? word_of(base) : ~0U;
    std::int64_t left = std::abs(n);
    for (; base >= 0 && base<32; base += n> 0 ? 1 : -1) {
      if (((mask >> base) & 1U) != 0 && --left == 0) return word_of(base);
    }
    return ~0U;
  };
  expect_formula("and.b32 %r2, %r2, 31;\nrem.s32 %r3, %r3, 9;\nfns.b32 %r4, %r1, %r2, %r3;",
                 [&](U32 a, U32 b, U32 c) { return find(a, b % 32, as_signed(c) % 9); });
  expect_formula("fns.b32 %r4, %r1, %r2, 1;",
                 [&](U32 a, U32 b, U32) { return find(a, as_signed(b), 1); });
  EXPECT_EQ(results_of("fns.b32 %r4, %r1, %r2, %r3;",
                       {0xf0f0U, 0xf0f0U, ~0U, ~0U, ~0U, ~0U, ~0U, 0x94b2b8fdU, 0x035efa25U},
                       {4, 3, 33, 31, 31, 0, 0, 4, 30},
                       {0, 0, 1, 32, word_of(-32), 32, 33, 7, word_of(-4)}),
            (Words{4, ~0U, ~0U, ~0U, 0, 31, ~0U, 13, 20}));
}

TEST(TestsOfFloats, TellTheirKind) {
  const auto expect = [](const std::string& name, bool (*holds)(float)) {
    expect_formula("testp." + name + ".f32 %p1, %f1;\nselp.u32 %r4, 1, 0, %p1;",
                   [&](U32 a, U32, U32) { return holds(std::bit_cast<float>(a)) ? 1U : 0U; });
  };
  expect("finite", [](float x) { return std::isfinite(x); });
  expect("infinite", [](float x) { return std::isinf(x); });
  expect("number", [](float x) { return !std::isnan(x); });
  expect("notanumber", [](float x) { return std::isnan(x); });
  expect("normal", [](float x) { return std::isnormal(x) || x == 0; });
  expect("subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
  const auto expect_double = [](const std::string& name, bool (*holds)(double)) {
    expect_formula(".reg .f64 %d;\nmov.b64 %d, {%r2, %r1};\ntestp." + name +
                       ".f64 %p1, %d;\nselp.u32 %r4, 1, 0, %p1;",
                   [&](U32 a, U32 b, U32) {
                     const std::uint64_t bits = std::uint64_t{a} << 32 | b;
                     return holds(std::bit_cast<double>(bits)) ? 1U : 0U;
                   });
  };
  expect_double("notanumber", [](double x) { return std::isnan(x); });
  expect_double("normal", [](double x) { return std::isnormal(x) || x == 0; });
  expect_double("subnormal", [](double x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

TEST(ExtremesOfMagnitudes, HaveTheProductOfTheSigns) {
  for (const bool is_max : {false, true}) {
    for (const bool keeps_nan : {false, true}) {
      for (const bool flushes : {false, true}) {
        const std::string line = std::string(is_max ? "max" : "min") + (flushes ? ".ftz" : "") +
                                 (keeps_nan ? ".NaN" : "") +
                                 ".xorsign.abs.f32 %f3, %f1, %f2;\nmov.b32 %r4, %f3;";
        expect_formula(line, [&](U32 a, U32 b, U32) {
          const auto magnitude = [&](U32 word) {
            const U32 bits = word & 0x7fffffffU;
            return flushes && bits < 0x00800000U ? 0U : bits;
          };
          // Magnitudes are ordered as their bits.
          const U32 x = magnitude(a);
          const U32 y = magnitude(b);
          const bool has_nan = std::max(x, y) > 0x7f800000U;
          const bool is_nan = std::min(x, y) > 0x7f800000U || (keeps_nan && has_nan);
          const U32 extreme = is_max && !has_nan ? std::max(x, y) : std::min(x, y);
          return is_nan ? 0x7fffffffU : extreme | ((a ^ b) & 0x80000000U);  // as on an H200
        });
      }
    }
  }
}

TEST(MultiplyAdd, OfTheHighHalfSaturates) {
  const auto clamp = [](std::int64_t sum) {
    return word_of(std::clamp(sum, std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX}));
  };
  expect_formula("mad.hi.sat.s32 %r4, %r1, %r2, %r3;", [&](U32 a, U32 b, U32 c) {
    return clamp((as_signed(a) * as_signed(b) >> 32) + as_signed(c));
  });
  expect_formula("mad24.hi.sat.s32 %r4, %r1, %r2, %r3;", [&](U32 a, U32 b, U32 c) {
    const std::int64_t product = (as_signed(a << 8) >> 8) * (as_signed(b << 8) >> 8);
    return clamp(as_signed(word_of(product >> 16)) + as_signed(c));
  });
}

TEST(LogicOfThree, CombinesItsResultWithAPredicate) {
  const std::string result = ";\nselp.u32 %r7, 1, 0, %p1;\nxor.b32 %r4, %r6, %r7;";
  const auto chosen = [](U32 a, U32 b, U32 c) { return (a & b) | (~a & c); };
  expect_formula(
      "setp.gt.u32 %p0, %r1, %r2;\nlop3.or.b32 %r6|%p1, %r1, %r2, %r3, 0xca, %p0" + result,
      [&](U32 a, U32 b, U32 c) {
        const U32 word = chosen(a, b, c);
        return word ^ (word != 0 || a > b ? 1U : 0U);
      });
  expect_formula(
      "setp.gt.u32 %p0, %r1, %r2;\nmov.u32 %r6, 0;\n"
      "lop3.and.b32 _|%p1, %r1, %r2, %r3, 0xca, !%p0" +
          result,
      [&](U32 a, U32 b, U32 c) { return chosen(a, b, c) != 0 && a <= b ? 1U : 0U; });
}

TEST(VectorsOfBytes, AreMovedToAndFromRegisters) {
  expect_formula(
      ".reg .b8 %c<4>;\n.reg .b16 %h<4>;\nmov.b32 {%c0, %c1, %c2, %c3}, %r1;\n"
      "mov.b16 %h1, {%c3, %c0};\nmov.b16 {%c0, %c3}, %h1;\nmov.b16 %h2, {%c2, 7};\n"
      "mov.b16 %h3, {%c0, %c3};\nmov.b32 %r4, {%h2, %h3};",
      [](U32 a, U32, U32) { return (a >> 16 & 0xffU) | 0x700U | (a >> 24) << 16 | a << 24; });
}

TEST(MbarrierStates, TellTheArrivalsThatWerePending) {
  EXPECT_EQ(results_of(".shared .align 8 .b64 bar;\n.reg .b64 %s<2>;\n"
                       "mbarrier.init.shared.b64 [bar], 5;\n"
                       "mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 2;\n"
                       "mbarrier.arrive_drop.noComplete.shared.b64 %s1, [bar], 1;\n"
                       "mbarrier.pending_count.b64 %r6, %s0;\n"
                       "mbarrier.pending_count.b64 %r7, %s1;\nmad.lo.u32 %r4, %r6, 16, %r7;",
                       {0}, {0}, {0}),
            Words{0x53});
}

}  // namespace
}  // namespace evo::test
