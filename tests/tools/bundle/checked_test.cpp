// Tests which sizes a bundle serves: the checked sizes, and sizes that the kernel does not
// distinguish from checked sizes.

#include "tools/bundle/checked.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/core/expression.hpp"
#include "tools/bundle/plan.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json expression(const std::string& text) { return {{"expression", text}}; }

/// PTX of a kernel that returns at once.
constexpr const char* kNoCode =
    ".version 9.0\n.target sm_89\n.address_size 64\n.visible .entry k() { ret; }\n";

/// A made-up kernel that computes y = f(x) for R rows of C elements and was checked on `shapes`.
CheckedKernel kernel(const std::vector<ShapeVariables>& shapes, const std::string& ptx = "",
                     int tile = 64, const std::string& extent = "R*C",
                     const std::string& block = "64") {
  Json manifest = {{"name", "k"},
                   {"arch", "sm_89"},
                   {"entry", "k"},
                   {"macros", {{"TILE", tile}}},
                   {"valid", Json::array()},
                   {"resources", {{"static_shared_bytes", 0}}},
                   {"launch", {{"grid", {expression("R")}}, {"block", {expression(block)}}}}};
  manifest["arguments"] = {{{"name", "y"},
                            {"direction", "out"},
                            {"dtype", "f32"},
                            {"row", expression("C")},
                            {"extent", expression(extent)}}};
  CheckedKernel result{{}, manifest, {}, std::string(kNoCode) + "/*\n" + ptx + "*/"};
  result.plan = kernel_plan(manifest, {"R", "C"});
  for (const ShapeVariables& shape : shapes) {
    result.shapes["s" + std::to_string(result.shapes.size())] = shape;
  }
  return result;
}

/// The values of `variable` from 1 to `most` that a bundle with this kernel serves, while the other
/// variables have the values of the first checked shape.
std::vector<int> served(const CheckedKernel& kernel, const std::string& variable, int most) {
  std::vector<int> sizes;
  const Json conditions = checked_conditions(kernel);
  for (int size = 1; size <= most; ++size) {
    ShapeVariables shape = kernel.shapes.begin()->second;
    shape[variable] = size;
    bool is_served = true;
    for (const Json& its : conditions) {
      is_served = is_served && Expression(its["expression"]).evaluate(shape) != 0;
    }
    if (is_served) sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::string> texts(const CheckedKernel& kernel) {
  std::vector<std::string> list;
  for (const Json& condition : checked_conditions(kernel)) list.push_back(condition["expression"]);
  return list;
}

TEST(CheckedConditions, AreTheRangeAndWhatAllSizesHaveInCommon) {
  EXPECT_THAT(
      texts(kernel({{{"R", 3}, {"C", 64}}, {{"R", 3}, {"C", 96}}})),
      ElementsAre("64 <= C <= 96 && C % 1 == 0", "C % 32 == 0", "R in [3]", "(R*C) <= 288"));
  EXPECT_THAT(served(kernel({{{"R", 3}, {"C", 64}}, {{"R", 3}, {"C", 512}}}), "C", 1000),
              ElementsAre(64, 128, 192, 256, 320, 384, 448, 512));
  EXPECT_THAT(served(kernel({{{"R", 3}, {"C", 64}}, {{"R", 5}, {"C", 64}}}), "R", 9),
              ElementsAre(3, 5));
  EXPECT_THAT(texts(kernel({{{"X", 0.5}}, {{"X", 2}}}, "", 64, "1")), ElementsAre("X in [0.5, 2]"));
  EXPECT_THAT(texts(kernel({{{"F", 0}}, {{"F", 1}}}, "", 64, "1")), ElementsAre("F in [0, 1]"));
}

TEST(CheckedConditions, WhereNoMultipleOfATileWasCheckedNoneIsServed) {
  const std::vector<ShapeVariables> shapes = {{{"R", 1}, {"C", 1}}, {{"R", 1}, {"C", 60}}};
  const std::vector<int> sizes = served(kernel(shapes, "", 12), "C", 60);
  EXPECT_THAT(sizes, testing::Contains(36));  // like 60, a multiple of 12
  const std::vector<int> without = served(kernel(shapes, "", 14), "C", 60);
  EXPECT_THAT(without, testing::Not(testing::Contains(28)));
  EXPECT_THAT(without, testing::Contains(36));
  EXPECT_THAT(served(kernel(shapes, "", 12, "R*C", "14"), "C", 60),
              testing::Not(testing::Contains(28)));
  EXPECT_THAT(served(kernel(shapes, "", 12, "R*C", "(R + 13) / 14 * 32"), "C", 60),
              testing::Not(testing::Contains(28)));
  // The hard-coded tiles of a kernel are assumed to be powers of two. The checked sizes are odd or
  // odd multiples of 4, so only sizes with these properties may be served.
  for (const int size : without) EXPECT_TRUE(size % 2 != 0 || size % 8 == 4) << size;
}

TEST(CheckedConditions, ADivisionInTheCodeAsksForRemaindersThatWereChecked) {
  const std::string by_seven = "\tmul.hi.s32 \t%r2, %r1, -1840700269;\n";
  const std::vector<ShapeVariables> shapes = {
      {{"R", 100}, {"C", 64}}, {{"R", 501}, {"C", 64}}, {{"R", 1003}, {"C", 64}}};
  const std::vector<int> sizes = served(kernel(shapes, by_seven), "R", 1100);
  EXPECT_GT(sizes.size(), 200U);
  for (const int size : sizes) {
    EXPECT_TRUE(size % 7 == 2 || size % 7 == 4) << size;
    EXPECT_TRUE(size >= 100 && size <= 1003) << size;
  }
  for (const ShapeVariables& shape : shapes) {
    EXPECT_THAT(sizes, testing::Contains(static_cast<int>(shape.at("R"))));
  }
  EXPECT_GT(served(kernel(shapes), "R", 1100).size(), 700U);
  const Json conditions = checked_conditions(kernel(shapes, by_seven));
  EXPECT_EQ(conditions.at(3)["expression"], "R % 7 in [2, 4]");
  EXPECT_THAT(conditions.at(3)["why"].get<std::string>(),
              HasSubstr("the code divides by 7: the kernel was checked with R = 100, 501, 1003"));
  EXPECT_EQ(conditions.at(3)["variables"], Json({"R"}));
}

TEST(CheckedConditions, LargeBuffersOfSeveralVariablesAreBounded) {
  const CheckedKernel both =
      kernel({{{"R", 1}, {"C", 4096}}, {{"R", 4096}, {"C", 64}}, {{"R", 3}, {"C", 1000}}});
  // 64 rows of 4096 columns have as many elements as the largest checked buffer, 4096 rows of 64.
  EXPECT_THAT(served(both, "R", 5000).back(), 64);
  const Json conditions = checked_conditions(both);
  EXPECT_EQ(conditions.back()["expression"], "(R*C) <= 262144");
  EXPECT_EQ(conditions.back()["variables"], Json({"C", "R"}));
}

TEST(CheckedConditions, ZeroStandsForNoRemainder) {
  const std::string by_seven = "mul.hi.s32 %r2, %r1, -1840700269;";
  const std::vector<ShapeVariables> shapes = {
      {{"R", 0}, {"C", 1}}, {{"R", 100}, {"C", 1}}, {{"R", 58}, {"C", 1}}};
  EXPECT_THAT(served(kernel(shapes, by_seven), "R", 100), ElementsAre(2, 30, 44, 58, 86, 100));
  EXPECT_THAT(texts(kernel({{{"R", 0}, {"C", 1}}, {{"R", 100}, {"C", 1}}})),
              testing::Contains("R == 0 || R % 100 == 0"));
}

TEST(CodeDivisors, AreThoseThatCompilersWriteAsReciprocals) {
  const auto of = [](const std::string& line) { return code_divisors(line + "\n"); };
  // NVRTC 13.0 generates this code for n % 7 (signed and unsigned), n % 6, n % 97, n % 1000, n %
  // 641, 64-bit n % 7 and n % 11, and 16-bit n % 7. Only the odd factors of these divisors are
  // expected.
  EXPECT_THAT(of("mul.hi.s32 \t%r2, %r1, -1840700269;"), ElementsAre(7));
  EXPECT_THAT(of("mul.wide.u32 \t%rd1, %r1, 613566757;"), ElementsAre(7));
  EXPECT_THAT(of("mul.hi.s32 \t%r2, %r1, 715827883;"), ElementsAre(3));
  EXPECT_THAT(of("@%p1 mul.hi.s32 \t%r2, %r1, 354224107;"), ElementsAre(97));
  EXPECT_THAT(of("mul.hi.s32 \t%r2, %r1, 274877907;"), ElementsAre(125));
  EXPECT_THAT(of("mul.hi.u32 \t%r2, %r1, 6700417;"), ElementsAre(641));
  EXPECT_THAT(of("mul.hi.s64 \t%rd4, %rd2, 5270498306774157605;"), ElementsAre(7));
  EXPECT_THAT(of("mul.hi.u64 \t%rd4, %rd2, 3353953467947191203;"), ElementsAre(11));
  EXPECT_THAT(of("mul.wide.u16 \t%r1, %rs1, 9363;"), ElementsAre(7));
  // NVRTC generates this code for unsigned n % 19, n % 21 and n % 1003, for 64-bit n % 19 and n %
  // 7, and for n % -11.
  EXPECT_THAT(of("mul.wide.u32 %rd3, %r1, -1356305461;"), ElementsAre(19));
  EXPECT_THAT(of("mul.wide.u32 %rd3, %r1, -2045222521;"), ElementsAre(21));
  EXPECT_THAT(of("mul.wide.u32 %rd3, %r1, 1096222959;"), ElementsAre(1003));
  EXPECT_THAT(of("mul.hi.u64 %rd4, %rd2, -2912643801112034465;"), ElementsAre(19));
  EXPECT_THAT(of("mul.hi.u64 %rd4, %rd2, 2635249153387078803;"), ElementsAre(7));
  EXPECT_THAT(of("mul.hi.s32 %r2, %r1, 780903145;"), ElementsAre(11));
  EXPECT_THAT(of("rem.s32 %r1, %r2, 7;"), ElementsAre(7));
  EXPECT_THAT(of("div.s32 %r1, %r2, -12;"), ElementsAre(3));
  for (const char* none : {"mul.wide.s32 %rd5, %r5, 4;", "mul.wide.u16 %r1, %rs1, 20;",
                           "mad.wide.u32 %rd5, %r5, 272, %rd1;", "mul.lo.s32 %r1, %r2, 7;",
                           "rem.s32 %r1, %r2, 8;", "div.rn.f32 %f1, %f2, 0f40E00000;",
                           "add.s32 %r1, %r2, 613566757;", "mul.wide.s32 %rd5, %r5, 16777216;",
                           "// mul.hi.s32 7", "mul.wide.u32 %rd1, %r1, 131072;"}) {
    EXPECT_THAT(of(none), IsEmpty()) << none;
  }
}

/// Tests all odd divisors below 4096. The factors are the reciprocals for signed division from the
/// book Hacker's Delight.
TEST(CodeDivisors, AreFoundForEveryReciprocal) {
  for (std::uint64_t divisor = 3; divisor < 4096; divisor += 2) {
    for (int shift = 0; shift < 12; ++shift) {
      const std::uint64_t factor = (std::uint64_t{1} << (32 + shift)) / divisor + 1;
      const std::uint64_t error = divisor - (std::uint64_t{1} << (32 + shift)) % divisor;
      if (factor >> 32 != 0 || error > (std::uint64_t{1} << (shift + 1))) continue;
      EXPECT_THAT(code_divisors("mul.hi.s32 %r2, %r1, " + std::to_string(factor) + ";"),
                  ElementsAre(divisor))
          << shift;
    }
  }
}

}  // namespace
}  // namespace evo
