#include "engine/core/expression_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "engine/core/expression_grammar.hpp"

namespace evo {
namespace {

std::string json_of(const std::string& text) { return translate_expression(text, {}); }

TEST(ExpressionTree, ABundleGetsTheOperationsThatItsReadersKnow) {
  EXPECT_EQ(json_of("-1.5"), "-1.5");
  EXPECT_EQ(json_of("B - A"), R"(["-","B","A"])");
  EXPECT_EQ(json_of("A <= B"), R"(["==",["<","B","A"],0])");
  EXPECT_EQ(json_of("A > B"), R"(["<","B","A"])");
  EXPECT_EQ(json_of("A != B"), R"(["==",["==","A","B"],0])");
  EXPECT_EQ(json_of("A && B"), R"(["?","A",["==",["==","B",0],0],0])");
  EXPECT_EQ(json_of("A or B"), R"(["?","A","A","B"])");
  EXPECT_EQ(json_of("A in [1, 2, 4]"), R"(["max",["==","A",1],["==","A",2],["==","A",4]])");
  EXPECT_EQ(json_of("min(A, min(B, 2), 3)"), R"(["min","A",["min","B",2],3])");
  EXPECT_EQ(json_of("max(A)"), R"("A")");
  EXPECT_EQ(json_of("align_up(A, 8)"), R"(["*",["ceil",["/","A",8]],8])");
}

TEST(ExpressionTree, WhatDoesNotCountIsNotEvaluated) {
  ExpressionTree tree;
  const auto condition = tree.variable(0);
  const auto zero = tree.number(0);
  const auto skip = tree.skip(condition, false);
  const auto quotient = tree.add(Operation::kDivide, {condition, zero});
  tree.land(skip);
  const auto root = tree.add(Operation::kChoose, {condition, quotient, zero});
  EXPECT_EQ(tree.evaluate(root, std::array{0.0}).trouble, nullptr);
  EXPECT_STREQ(tree.evaluate(root, std::array{1.0}).trouble, "division by zero");
}

TEST(ExpressionTree, ANodeOfTwoIsCountedTwice) {
  ExpressionTree tree;
  auto node = tree.variable(0);
  EXPECT_EQ(tree.size(node), 1U);
  node = tree.add(Operation::kAdd, {node, node});
  EXPECT_EQ(tree.size(node), 3U);
  for (int i = 0; i < 40; ++i) node = tree.add(Operation::kAdd, {node, node});
  EXPECT_EQ(tree.size(node), UINT32_MAX);
  EXPECT_EQ(tree.evaluate(node, std::array{1.0}).value, 0x1p41);
}

/// Several threads may evaluate the same expression at once, because several threads may use one
/// space.
TEST(ExpressionTree, ThreadsMayEvaluateItTogether) {
  const ParsedExpression parsed = parse_expression("A * A // 3 + (B and A % B)", {});
  const auto outcome = [&](double a) {
    return parsed.tree.evaluate(parsed.root, std::array{a, 7.0}).value;
  };
  std::vector<double> expected;
  for (int a = 0; a < 1000; ++a) expected.push_back(outcome(a));
  std::vector<double> seen(expected.size());
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::size_t a = first; a < seen.size(); a += 4)
        seen[a] = outcome(static_cast<double>(a));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace evo
