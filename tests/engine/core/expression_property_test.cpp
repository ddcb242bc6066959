// Compares the values of random expressions with an independent evaluator of expression trees. The
// expressions use all operators of the expression language, and six of its functions.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/random.hpp"

namespace evo {
namespace {

/// nullopt if an expression has no value, for example because an operand has none
using Value = std::optional<double>;

const std::map<std::string, double> kVariables = {{"A", 0}, {"B", 1},    {"C", -3},
                                                  {"D", 7}, {"E2", 0.5}, {"min_x", 64}};

/// The rules of the expression grammar by precedence, the lowest first.
enum Rule { kChoice, kOr, kAnd, kNot, kComparison, kSum, kProduct, kUnary, kPower, kPrimary };

struct Tree {
  Rule rule = kPrimary;
  std::string op;  ///< operator, function, name or number
  std::vector<std::unique_ptr<Tree>> parts;
  std::vector<std::string> links;  ///< the operators of a chain of comparisons
};

double python_modulo(double a, double b) {
  // The remainder of std::fmod has the sign of the dividend; Python's has the sign of the divisor.
  double rest = std::fmod(a, b);
  while ((b > 0 && rest < 0) || (b < 0 && rest > 0)) rest += b;
  return rest;
}

Value finite(double value) { return std::isfinite(value) ? Value(value) : std::nullopt; }

bool holds(double a, const std::string& op, double b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

Value value_of(const Tree& tree);

Value binary_value(const std::string& op, double a, double b) {
  if (op == "+") return finite(a + b);
  if (op == "-") return finite(a - b);
  if (op == "*") return finite(a * b);
  if (op == "^" || op == "**") return finite(std::pow(a, b));
  if (b == 0) return std::nullopt;
  if (op == "/") return finite(a / b);
  if (op == "%") return finite(python_modulo(a, b));
  return finite(std::round((a - python_modulo(a, b)) / b));
}

Value function_value(const std::string& name, const std::vector<double>& x) {
  if (name == "min") return *std::min_element(x.begin(), x.end());
  if (name == "max") return *std::max_element(x.begin(), x.end());
  if (name == "abs") return x[0] < 0 ? -x[0] : x[0];
  if (name == "sqrt") return x[0] < 0 ? std::nullopt : finite(std::sqrt(x[0]));
  if (name == "floor") return std::floor(x[0]);
  return x[1] == 0 ? std::nullopt : finite(std::ceil(x[0] / x[1]));  // ceil_div
}

Value chain_value(const Tree& tree) {
  Value left = value_of(*tree.parts[0]);
  if (!left) return std::nullopt;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Value right = value_of(*tree.parts[i + 1]);
    if (!right) return std::nullopt;
    if (!holds(*left, tree.links[i], *right)) return 0;  // the rest of the chain is not evaluated
    left = right;
  }
  return 1;
}

Value list_value(const Tree& tree) {
  const Value wanted = value_of(*tree.parts[0]);
  bool found = false;
  bool spoilt = !wanted;
  for (std::size_t i = 1; i < tree.parts.size(); ++i) {
    const Value element = value_of(*tree.parts[i]);
    spoilt = spoilt || !element;
    found = found || (wanted && element && *wanted == *element);
  }
  if (spoilt) return std::nullopt;
  return found == (tree.op == "in") ? 1 : 0;
}

/// The value of `and`, `or`, && and ||, whose second operand is evaluated only if the first operand
/// does not determine the value.
Value logical_value(const Tree& tree) {
  const Value left = value_of(*tree.parts[0]);
  if (!left) return std::nullopt;
  const bool word = tree.op == "and" || tree.op == "or";
  const bool decided = (tree.rule == kOr) == (*left != 0);
  if (decided) return word ? *left : *left != 0 ? 1 : 0;
  const Value right = value_of(*tree.parts[1]);
  if (!right) return std::nullopt;
  return word ? *right : *right != 0 ? 1 : 0;
}

Value value_of(const Tree& tree) {
  if (tree.rule == kComparison) return tree.links.empty() ? list_value(tree) : chain_value(tree);
  if (tree.rule == kOr || tree.rule == kAnd) return logical_value(tree);
  if (tree.rule == kChoice) {
    const Value condition = value_of(*tree.parts[0]);
    if (!condition) return std::nullopt;
    return value_of(*tree.parts[*condition != 0 ? 1 : 2]);
  }
  std::vector<double> x;
  for (const auto& part : tree.parts) {
    const Value value = value_of(*part);
    if (!value) return std::nullopt;
    x.push_back(*value);
  }
  if (tree.rule == kNot || tree.op == "!") return x[0] == 0 ? 1 : 0;
  if (tree.rule == kUnary) return tree.op == "-" ? -x[0] : x[0];
  if (tree.rule != kPrimary) return binary_value(tree.op, x[0], x[1]);
  if (!x.empty()) return function_value(tree.op, x);
  if (tree.op == "True" || tree.op == "False") return tree.op == "True" ? 1 : 0;
  const auto variable = kVariables.find(tree.op);
  return variable != kVariables.end() ? variable->second : std::stod(tree.op);
}

template <std::size_t N>
std::string one_of(Random& random, const char* const (&choices)[N]) {
  return choices[random.below(N)];
}

std::unique_ptr<Tree> random_tree(Random& random, int depth) {
  auto tree = std::make_unique<Tree>();
  const auto add = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      tree->parts.push_back(random_tree(random, depth - 1));
    }
  };
  tree->rule = depth == 0 ? kPrimary : static_cast<Rule>(random.below(kPrimary + 1));
  switch (tree->rule) {
    case kChoice:
      add(3);
      break;
    case kOr:
      tree->op = one_of(random, {"||", "or"});
      add(2);
      break;
    case kAnd:
      tree->op = one_of(random, {"&&", "and"});
      add(2);
      break;
    case kNot:
      add(1);
      break;
    case kComparison:
      tree->op = one_of(random, {"in", "not in", "chain", "chain", "chain"});
      add(2 + random.below(3));
      for (std::size_t i = 1; tree->op == "chain" && i < tree->parts.size(); ++i) {
        tree->links.push_back(one_of(random, {"==", "!=", "<", "<=", ">", ">="}));
      }
      break;
    case kSum:
      tree->op = one_of(random, {"+", "-"});
      add(2);
      break;
    case kProduct:
      tree->op = one_of(random, {"*", "/", "//", "%"});
      add(2);
      break;
    case kUnary:
      tree->op = one_of(random, {"-", "+", "!"});
      add(1);
      break;
    case kPower:
      tree->op = one_of(random, {"^", "**"});
      add(2);
      break;
    case kPrimary:
      if (depth > 0 && random.below(2) == 0) {
        tree->op = one_of(random, {"min", "max", "abs", "sqrt", "floor", "ceil_div"});
        add(tree->op == "min" || tree->op == "max" ? 1 + random.below(3)
            : tree->op == "ceil_div"               ? 2
                                                   : 1);
      } else {
        tree->op = one_of(random, {"A", "B", "C", "D", "E2", "min_x", "0", "1", "2", "0.25", "1e2",
                                   "17", "True", "False"});
      }
  }
  return tree;
}

std::string rendered(const Tree& tree, Random& random, Rule at_least) {
  const auto part = [&](std::size_t i, Rule rule) {
    return rendered(*tree.parts[i], random, rule);
  };
  const auto space = [&] { return random.below(2) == 0 ? " " : ""; };
  const auto stronger = [](Rule rule) { return static_cast<Rule>(rule + 1); };
  std::string text;
  switch (tree.rule) {
    case kChoice:
      text = part(0, kOr) + space() + "?" + space() + part(1, kChoice) + ":" + part(2, kChoice);
      break;
    case kOr:
    case kAnd:
      // The right operand needs no parentheses, because the language groups `or` and `and` from
      // the right: `a or b or c` is `a or (b or c)`.
      text = part(0, stronger(tree.rule)) + " " + tree.op + " " + part(1, tree.rule);
      break;
    case kNot:
      text = "not " + part(0, kNot);
      break;
    case kComparison: {
      text = part(0, kSum);
      const bool round = random.below(2) == 0;
      if (tree.links.empty()) text += " " + tree.op + (round ? " (" : " [");
      for (std::size_t i = 1; i < tree.parts.size(); ++i) {
        if (!tree.links.empty()) {
          text += space() + tree.links[i - 1] + space() + part(i, kSum);
        } else {
          text += part(i, kChoice) + (round || i + 1 < tree.parts.size() ? ", " : "");
        }
      }
      if (tree.links.empty()) text += round ? ")" : "]";
      break;
    }
    case kSum:
    case kProduct:
      text = part(0, tree.rule) + space() + tree.op + space() + part(1, stronger(tree.rule));
      break;
    case kUnary:
      text = tree.op + part(0, kUnary);
      break;
    case kPower:
      text = part(0, kPrimary) + space() + tree.op + space() + part(1, kUnary);
      break;
    case kPrimary:
      text = tree.op;
      if (!tree.parts.empty()) {
        text += "(";
        for (std::size_t i = 0; i < tree.parts.size(); ++i) {
          text += (i == 0 ? "" : ", ") + part(i, kChoice);
        }
        text += ")";
      }
  }
  const bool parentheses = tree.rule < at_least || random.below(6) == 0;
  return parentheses ? "(" + text + ")" : text;
}

TEST(ExpressionProperty, RandomTreesHaveTheValueOfTheTree) {
  Random random(20);
  int with_value = 0;
  int without_value = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto tree = random_tree(random, 1 + static_cast<int>(random.below(4)));
    const std::string text = rendered(*tree, random, kChoice);
    if (text.size() > 1000) continue;
    std::optional<double> found;
    try {
      found = Expression(text).evaluate(kVariables);
    } catch (const InputError& error) {
      ASSERT_EQ(std::string(error.what()).find("bad expression"), std::string::npos)
          << error.what();
    }
    const Value expected = value_of(*tree);
    ASSERT_EQ(found, expected) << text;
    (expected ? with_value : without_value)++;
  }
  EXPECT_GT(with_value, 5000);
  EXPECT_GT(without_value, 500);
}

TEST(ExpressionProperty, TheConjunctsTogetherMeanTheWhole) {
  Random random(21);
  int split = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto tree = random_tree(random, 3);
    const std::string text = rendered(*tree, random, kChoice);
    if (text.size() > 1000) continue;
    const std::vector<std::string> parts = split_conjunction(text);
    split += parts.size() > 1 ? 1 : 0;
    // In constraints, an expression without a value is false, and evaluation stops at the first
    // false operand.
    bool all = true;
    for (const std::string& part : parts) {
      try {
        all = all && Expression(part).evaluate(kVariables) != 0;
      } catch (const InputError&) {
        all = false;
      }
    }
    const Value whole = value_of(*tree);
    ASSERT_EQ(all, whole && *whole != 0) << text;
  }
  EXPECT_GT(split, 300);
}

/// Parsing and evaluating random sequences of words, most of which belong to the expression
/// language, gives a finite value or an InputError, but never crashes or hangs.
TEST(ExpressionProperty, ArbitraryTextEndsInAValueOrAnInputError) {
  Random random(22);
  const char* const words[] = {"(",  ")", "[",  "]",  ",",  "?", ":",   "=", "==",  "<",
                               "in", "!", "**", "//", "or", "-", "not", "A", "1",   "2",
                               "0.", ".", "^",  "%",  "&&", "&", "min", "e", "True"};
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = 1 + random.below(8); n > 0; --n) text += one_of(random, words) + " ";
    try {
      EXPECT_TRUE(std::isfinite(Expression(text).evaluate({{"A", 2}, {"e", 3}}))) << text;
      ++accepted;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace evo
