#include "engine/core/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
    FAIL() << "value() accepted the unknown name B";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'B'"), std::string::npos) << error.what();
  }
}

TEST(Expression, RefusesToDivideByZero) {
  EXPECT_THROW((void)value("1 / 0"), InputError);
  EXPECT_THROW((void)value("1 / A > 5", {{"A", 0}}), InputError)
      << "a division by zero inside a comparison is an error, too";
  EXPECT_THROW((void)value("min(1 / A, 5)", {{"A", 0}}), InputError);
  EXPECT_THROW((void)value("!(sqrt(A) < 0)", {{"A", -1}}), InputError);
  EXPECT_EQ(value("A == 0 || 64 % A == 0", {{"A", 0}}), 1)
      << "an operand that is not evaluated may divide by zero";
  EXPECT_EQ(value("A ? 1 / A : 7", {{"A", 0}}), 7);
  EXPECT_EQ(value("2 * N / 98", {{"N", 49}}), 1)
      << "a division is not replaced by a multiplication by 1 / 98";
}

/// The error message for `text`; "" if `text` is a valid expression.
std::string message(const std::string& text) {
  try {
    (void)Expression(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Expression, SaysWhereItIsWrongAndWhatToWrite) {
  const auto check = [](const std::string& text, const std::string& at, const std::string& write) {
    EXPECT_THAT(message(text), AllOf(HasSubstr("bad expression"), HasSubstr("position " + at + ":"),
                                     HasSubstr(write)))
        << text;
  };
  check("M = 7", "3", "write ==");
  check("0,001", "2", "0.001");
  check("1e-5, 1e9", "5", "decimal numbers have a point");
  check("(1, 2)", "3", "a comma only separates arguments");
  check("a === b", "3", "write ==");
  check("a <> b", "3", "write !=");
  check("a => b", "3", "write >=");
  check("a & b", "3", "write &&");
  check("a | b", "3", "write ||");
  check("~a", "1", "write !");
  check("a << 2", "3", "multiplication");
  check("S == \"xor\"", "6", "SWIZZLE_XOR");
  check("1 if a else 2", "3", "CONDITION ? A : B");
  check("a is b", "3", "write ==");
  check("lambda", "1", "cannot be defined");
  check("sin(1)", "1", "allowed: ceil_div, floor_div");
  check("ceil_div(1)", "1", "ceil_div' has 1 arguments; allowed: 2");
  check("floor(1, 2)", "1", "allowed: 1");
  check("min()", "1", "at least 1");
  check("min(1,)", "7", "an argument is expected");
  check("min", "1", "write min(…)");
  check("2N", "2", "operator is missing");
  check("0x10", "2", "decimal");
  check("1.2.3", "4", "operator is missing");
  check("007", "1", "leading zeros");
  check("9007199254740993", "1", "not exact");
  check("1e999", "1", "exceeds the range of a double");
  check("a b", "3", "an operator or the end");
  check("(1", "3", "close the ( at position 1");
  check("1 ? 2", "6", "':' is expected");
  check("", "1", "a number, a name");
  check("a in (1)", "8", "write [value]");
  check("a in b", "6", "a list is expected");
  check("a in []", "7", "the list is empty");
  check("a in [1,2)", "10", "']' is expected");
  check("a [1]", "3", "a list may only follow 'in'");
  check("a == not b", "6", "a value is expected");
  check("é", "1", "'é' is not part of the language");
  check(std::string("1\0", 2), "2", "not part of the language");
}

TEST(Expression, ComparisonsChainAsInPython) {
  EXPECT_EQ(value("32 <= A * B <= 1024", {{"A", 64}, {"B", 64}}), 0);
  EXPECT_EQ(value("32 <= A * B <= 1024", {{"A", 16}, {"B", 64}}), 1);
  EXPECT_EQ(value("3 > 2 == 2"), 1);
  EXPECT_EQ(value("3 > 2 == 1"), 0);
  EXPECT_EQ(value("(3 > 2) == 1"), 1);
  EXPECT_EQ(value("1 < 2 in [2, 3]"), 1);
}

TEST(Expression, PythonsWordsMeanWhatTheyMeanInPython) {
  EXPECT_EQ(value("A in (16, 32) and not A == 32", {{"A", 16}}), 1);
  EXPECT_EQ(value("A not in [16, 32]", {{"A", 16}}), 0);
  EXPECT_EQ(value("0 or 5"), 5);
  EXPECT_EQ(value("0 || 5"), 1);
  EXPECT_EQ(value("2 and 3"), 3);
  EXPECT_EQ(value("2 && 3"), 1);
  EXPECT_EQ(value("not 0 == 1"), 1);
  EXPECT_EQ(value("!0 == 1"), 1);
  EXPECT_EQ(value("not 1 == 0"), 1) << "not (1 == 0)";
  EXPECT_EQ(value("!1 == 1"), 0) << "(!1) == 1";
  EXPECT_EQ(value("True + True + False"), 2);
  EXPECT_EQ(value("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value("-2 ** 2"), -4);
  EXPECT_EQ(value("2 ^ -1"), 0.5);
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("1 // 0.1"), 9);
  EXPECT_EQ(value("-7 % 3"), 2) << "a remainder has the divisor's sign";
  EXPECT_EQ(value("7 % -3"), -2);
}

TEST(Expression, DeepAndLongTextsAreRefusedAndNotFollowed) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  EXPECT_EQ(value(repeated("(", 90) + "1" + repeated(")", 90)), 1);
  EXPECT_THAT(message(repeated("(", 5000) + "1" + repeated(")", 4000)), HasSubstr("too deeply"));
  EXPECT_THAT(message(repeated("-", 5000) + "1"), HasSubstr("too deeply"));
  EXPECT_THAT(message(repeated("not ", 2000) + "1"), HasSubstr("too deeply"));
  EXPECT_THAT(message(repeated("1?", 3000) + "1"), HasSubstr("too deeply"));
  EXPECT_THAT(message(repeated("2^", 3000) + "1"), HasSubstr("too deeply"));
  EXPECT_EQ(value(repeated("1+", 3000) + "1"), 3001);
  EXPECT_THAT(message(repeated("1+", 30000) + "1"), HasSubstr("too long"));
  EXPECT_THAT(message("A" + repeated("<A+1", 2400)), HasSubstr("too long"));
  // Each level of parentheses may double the length of the translated expression. The translation
  // must still end, and an expression that becomes too long is an error.
  EXPECT_THAT(message(repeated("(", 60) + "A" + repeated(" or B) or C", 60)),
              HasSubstr("too long"));
  EXPECT_THAT(message(repeated("(0 < ", 60) + "A" + repeated(" < B)", 60)), HasSubstr("too long"));
}

TEST(Expression, NamesAreWhateverTheFileCallsThem) {
  EXPECT_EQ(value("_pi + _e + v0 + divide + rint",
                  {{"_pi", 1}, {"_e", 2}, {"v0", 4}, {"divide", 8}, {"rint", 16}}),
            31);
}

TEST(Expression, MessagesNameTheKeyAndTheValues) {
  const Expression expression("N / (M - 1)", {}, "p.json: tolerance.relative_l2");
  try {
    (void)expression.evaluate({{"N", 4096}, {"M", 1}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("p.json: tolerance.relative_l2: "),
                      HasSubstr("'N / (M - 1)' with M=1, N=4096"), HasSubstr("division by zero")));
  }
  EXPECT_EQ(expression.described({{"N", 2}, {"M", 0.5}}),
            "p.json: tolerance.relative_l2: expression 'N / (M - 1)' with M=0.5, N=2");
}

}  // namespace
}  // namespace evo
