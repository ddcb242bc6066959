#include "engine/core/expression.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

double value(const std::string& text, const std::map<std::string, double>& values = {}) {
  return Expression(text).evaluate(values);
}

TEST(Expression, FollowsTheUsualPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("1 + 7 % 4 == 4"), 1);
  EXPECT_EQ(value("2 < 3 && !(4 < 3)"), 1);
  EXPECT_EQ(value("1 > 2 ? 10 : 20"), 20);
}

TEST(Expression, HasTheFunctionsOfLaunchGeometry) {
  EXPECT_EQ(value("ceil_div(500, 64)"), 8);
  EXPECT_EQ(value("floor_div(500, 64)"), 7);
  EXPECT_EQ(value("align_up(500, 64)"), 512);
  EXPECT_EQ(value("max(1, 2, 3) - min(4, 5)"), -1);
  EXPECT_EQ(value("is_pow2(64) + is_pow2(48)"), 1);
  EXPECT_EQ(value("is_pow2(0)"), 0);
}

TEST(Expression, ListsItsVariablesWithoutConstants) {
  const Expression expression("TILE_N * D <= LIMIT", {{"LIMIT", 4096}});
  EXPECT_EQ(expression.variables(), (std::vector<std::string>{"D", "TILE_N"}));
  EXPECT_EQ(expression.evaluate({{"D", 64}, {"TILE_N", 64}}), 1);
  EXPECT_EQ(expression.evaluate({{"D", 128}, {"TILE_N", 64}}), 0);
}

TEST(Expression, NamesWhatIsWrong) {
  EXPECT_THROW(Expression("1 +"), InputError);
  EXPECT_THROW(Expression("f(2)"), InputError);
  try {
    (void)value("A + B", {{"A", 1}});
    FAIL() << "B is unknown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'B'"), std::string::npos) << error.what();
  }
}

TEST(Expression, RefusesToDivideByZero) { EXPECT_THROW((void)value("1 / 0"), InputError); }

}  // namespace
}  // namespace evo
