// Compares set and setp of f16, bf16 and pairs of them with comparisons of doubles.
#include "tests/engine/device/virtual/arithmetic/formulas.hpp"

namespace evo::test {
namespace {

struct Comparison {
  const char* name;
  bool (*holds)(double, double);
};
const Comparison kComparisons[] = {
    {"eq", [](double x, double y) { return x == y; }},
    {"ne", [](double x, double y) { return x < y || x > y; }},
    {"lt", [](double x, double y) { return x < y; }},
    {"le", [](double x, double y) { return x <= y; }},
    {"gt", [](double x, double y) { return x > y; }},
    {"ge", [](double x, double y) { return x >= y; }},
    {"equ", [](double x, double y) { return !(x < y || x > y); }},
    {"neu", [](double x, double y) { return x != y; }},
    {"ltu", [](double x, double y) { return !(x >= y); }},
    {"leu", [](double x, double y) { return !(x > y); }},
    {"gtu", [](double x, double y) { return !(x <= y); }},
    {"geu", [](double x, double y) { return !(x < y); }},
    {"num", [](double x, double y) { return x == x && y == y; }},
    {"nan", [](double x, double y) { return x != x || y != y; }},
};

struct Format {
  const char* name;
  double (*value)(U32 bits);
  U32 one;  ///< the bits of 1.0
};
const Format kFormats[] = {
    {"f16", value_of_half, 0x3c00U},
    {"bf16", value_of_bfloat, 0x3f80U},
    {"ftz.f16", [](U32 bits) { return (bits & 0x7c00U) == 0 ? 0.0 : value_of_half(bits); },
     0x3c00U},
};

std::string last_word(const std::string& name) { return name.substr(name.rfind('.') + 1); }

TEST(SetOfHalves, GivesOneOrAllBitsWhereTheComparisonHolds) {
  for (const Format& format : kFormats) {
    const std::string flush = std::string(format.name) == "ftz.f16" ? ".ftz" : "";
    const std::string type = last_word(format.name);
    for (const Comparison& comparison : kComparisons) {
      const auto holds = [&](U32 a, U32 b) {
        return comparison.holds(format.value(a & 0xffffU), format.value(b & 0xffffU));
      };
      const auto expect = [&](const std::string& result, U32 yes) {
        const std::string pairs = std::string("set.") + comparison.name + flush + result;
        expect_formula(pairs + type + "x2 %r4, %r1, %r2;", [&](U32 a, U32 b, U32) {
          return (holds(a, b) ? yes : 0U) | (holds(a >> 16, b >> 16) ? yes << 16 : 0U);
        });
      };
      expect("." + type + "x2.", format.one);
      expect(".u32.", 0xffffU);
      const std::string scalar =
          ".reg .b16 %h<4>;\nmov.b32 {%h1, _}, %r1;\n"
          "mov.b32 {%h2, _}, %r2;\nset." +
          std::string(comparison.name) + flush + ".";
      const std::string end = "." + type + " %h3, %h1, %h2;\nmov.b32 %r4, {%h3, 7};";
      expect_formula(scalar + type + end,
                     [&](U32 a, U32 b, U32) { return 0x70000U | (holds(a, b) ? format.one : 0U); });
      expect_formula(scalar + "s16" + end,
                     [&](U32 a, U32 b, U32) { return 0x70000U | (holds(a, b) ? 0xffffU : 0U); });
      expect_formula(scalar + "s32." + type + " %r4, %h1, %h2;",
                     [&](U32 a, U32 b, U32) { return holds(a, b) ? ~0U : 0U; });
    }
  }
}

TEST(SetpOfHalves, GivesOnePredicateForEachHalf) {
  for (const Format& format : kFormats) {
    const std::string flush = std::string(format.name) == "ftz.f16" ? ".ftz." : ".";
    const std::string end = last_word(format.name) + "x2 %p1|%q, %r1, %r2";
    const std::string result = ";\nselp.u32 %r4, 1, 0, %p1;\n@%q add.u32 %r4, %r4, 2;";
    for (const Comparison& comparison : kComparisons) {
      const auto halves = [&](U32 a, U32 b) {
        const auto holds = [&](U32 x, U32 y) {
          return comparison.holds(format.value(x & 0xffffU), format.value(y & 0xffffU)) ? 1U : 0U;
        };
        return holds(a, b) | holds(a >> 16, b >> 16) << 1;
      };
      const std::string start = ".reg .pred %q;\n";
      const std::string name = std::string("setp.") + comparison.name;
      expect_formula(start + name + flush + end + result,
                     [&](U32 a, U32 b, U32) { return halves(a, b); });
      expect_formula(
          start + "setp.ne.u32 %p0, %r3, 0;\n" + name + ".and" + flush + end + ", %p0" + result,
          [&](U32 a, U32 b, U32 c) { return c == 0 ? 0U : halves(a, b); });
    }
  }
}

}  // namespace
}  // namespace evo::test
