#include "engine/core/expression_tree.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace evo {
namespace {

using Outcome = ExpressionTree::Outcome;

/// The remainder with the sign of the divisor (Python's %).
double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Outcome divided(Operation operation, double a, double b) {
  if (b == 0) return {0, "division by zero"};
  if (operation == Operation::kDivide) return {a / b};
  if (operation == Operation::kModulo) return {modulo(a, b)};
  // Python's //: the quotient q for which a == q * b + a % b holds exactly.
  return {std::round((a - modulo(a, b)) / b)};
}

Outcome finite(double value, const char* else_why) {
  return {value, std::isfinite(value) ? nullptr : else_why};
}

Outcome logarithm(double a, double (*log)(double)) {
  if (a <= 0) return {0, "logarithm of a number that is not positive"};
  return {log(a)};
}

/// Calculates an operation. Operations with one operand ignore `b`.
Outcome calculated(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::kEqual:
      return {a == b ? 1.0 : 0.0};
    case Operation::kLess:
      return {a < b ? 1.0 : 0.0};
    case Operation::kLessEqual:
      return {a <= b ? 1.0 : 0.0};
    case Operation::kNot:
      return {a == 0 ? 1.0 : 0.0};
    case Operation::kTruth:
      return {a == 0 ? 0.0 : 1.0};
    case Operation::kAdd:
      return {a + b};
    case Operation::kSubtract:
      return {a - b};
    case Operation::kMultiply:
      return {a * b};
    case Operation::kDivide:
    case Operation::kFloorDivide:
    case Operation::kModulo:
      return divided(operation, a, b);
    case Operation::kPower:
      return finite(std::pow(a, b), "a power without a finite value");
    case Operation::kMin:
      return {b < a ? b : a};
    case Operation::kMax:
      return {a < b ? b : a};
    case Operation::kFloor:
      return {std::floor(a)};
    case Operation::kCeil:
      return {std::ceil(a)};
    case Operation::kRound:
      return {std::round(a)};
    case Operation::kSqrt:
      return {std::sqrt(a), a < 0 ? "square root of a negative number" : nullptr};
    case Operation::kExp:
      return finite(std::exp(a), "exp of a number that is too large");
    case Operation::kLn:
      return logarithm(a, std::log);
    case Operation::kLog2:
      return logarithm(a, std::log2);
    default:
      return {0, "no operation"};
  }
}

/// The name of `operation` in the JSON expressions of bundles; empty if the JSON expresses
/// `operation` by several other operations.
std::string_view json_name(Operation operation) {
  static constexpr std::array<std::string_view, 25> kNames = {
      "",   "",  "",  "?",   "==",  "<",     "",     "",      "",     "+",   "-",  "*",   "/",
      "//", "%", "^", "min", "max", "floor", "ceil", "round", "sqrt", "exp", "ln", "log2"};
  return kNames.at(static_cast<std::size_t>(operation));
}

constexpr bool is_extreme(Operation operation) {
  return operation == Operation::kMin || operation == Operation::kMax;
}

}  // namespace

ExpressionTree::Node ExpressionTree::push(const Part& part) {
  nodes_.push_back(part);
  return static_cast<Node>(nodes_.size() - 1);
}

ExpressionTree::Node ExpressionTree::number(double value) {
  // Replaces -0 by 0, because the programs that load bundles do not support -0.
  return push({.is_truth = value == 0 || value == 1, .number = value == 0 ? 0 : value});
}

ExpressionTree::Node ExpressionTree::variable(std::size_t index) {
  return push({.operation = Operation::kVariable, .first = static_cast<Node>(index)});
}

ExpressionTree::Node ExpressionTree::add(Operation operation,
                                         std::initializer_list<Node> operands) {
  std::array<Node, 3> its{};
  std::ranges::copy(operands, its.begin());
  std::uint64_t size = 1;
  for (const Node operand : operands) size += nodes_[operand].size;
  bool is_truth = operation >= Operation::kEqual && operation <= Operation::kTruth;
  if (operation == Operation::kChoose)
    is_truth = nodes_[its[1]].is_truth && nodes_[its[2]].is_truth;
  if (is_extreme(operation)) is_truth = nodes_[its[0]].is_truth && nodes_[its[1]].is_truth;
  return push({.operation = operation,
               .is_truth = is_truth,
               .size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX)),
               .first = its[0],
               .second = its[1],
               .third = its[2]});
}

ExpressionTree::Node ExpressionTree::truth(Node node) {
  return is_truth(node) ? node : add(Operation::kTruth, {node});
}

ExpressionTree::Node ExpressionTree::skip(Node condition, bool when) {
  return push({.operation = Operation::kSkip, .when = when, .first = condition});
}

std::optional<double> ExpressionTree::number_of(Node node) const {
  const Part& part = nodes_[node];
  return part.operation == Operation::kNumber ? std::optional(part.number) : std::nullopt;
}

void ExpressionTree::reorder(std::span<const std::size_t> order) {
  for (Part& part : nodes_) {
    if (part.operation == Operation::kVariable) part.first = static_cast<Node>(order[part.first]);
  }
}

Outcome ExpressionTree::evaluate(Node root, std::span<const double> values) const {
  constexpr std::size_t kFew = 128;
  std::array<double, kFew> few;  // NOLINT(*-member-init): each element is written before it is read
  std::vector<double> many(root < kFew ? 0 : root + 1);
  double* const known = root < kFew ? few.data() : many.data();
  for (Node at = 0; at <= root; ++at) {
    const Part& part = nodes_[at];
    if (part.operation == Operation::kNumber) {
      known[at] = part.number;
    } else if (part.operation == Operation::kVariable) {
      known[at] = values[part.first];
    } else if (part.operation == Operation::kSkip) {
      if ((known[part.first] != 0) == part.when) at = part.second - 1;
    } else if (part.operation == Operation::kChoose) {
      known[at] = known[known[part.first] != 0 ? part.second : part.third];
    } else {
      const Outcome outcome = calculated(part.operation, known[part.first], known[part.second]);
      if (outcome.trouble != nullptr) return outcome;
      known[at] = outcome.value;
    }
  }
  return finite(known[root], "no finite value");
}

std::string ExpressionTree::json(Node root, std::span<const std::string> names) const {
  std::string text;
  append_json(root, names, text);
  return text;
}

void ExpressionTree::append_json(Node node, std::span<const std::string> names,
                                 std::string& text) const {
  const Part& part = nodes_[node];
  const auto append = [&](std::string_view before, Node operand, std::string_view behind) {
    text.append(before);
    append_json(operand, names, text);
    text.append(behind);
  };
  switch (part.operation) {
    case Operation::kNumber: {
      std::array<char, 40> digits{};
      char* const end = digits.data() + digits.size();
      text.append(digits.data(), std::to_chars(digits.data(), end, part.number).ptr);
      return;
    }
    case Operation::kVariable:
      text.append("\"").append(names[part.first]).append("\"");
      return;
    case Operation::kNot:
      return append("[\"==\",", part.first, ",0]");
    case Operation::kTruth:
      return append("[\"==\",[\"==\",", part.first, ",0],0]");
    case Operation::kLessEqual:
      append("[\"==\",[\"<\",", part.second, ",");
      return append("", part.first, "],0]");
    default:
      text.append("[\"").append(json_name(part.operation)).append("\"");
      append_operands(node, names, text);
      text.append("]");
  }
}

/// Appends the operands of a node to the JSON text, such as ",a,b". Nested calls of max or min are
/// merged: the operands of max(max(a, b), c) are a, b and c.
void ExpressionTree::append_operands(Node node, std::span<const std::string> names,
                                     std::string& text) const {
  const Part& part = nodes_[node];
  if (is_extreme(part.operation) && nodes_[part.first].operation == part.operation) {
    append_operands(part.first, names, text);
  } else {
    append_json(part.first, names, text.append(","));
  }
  if (part.operation >= Operation::kFloor) return;
  append_json(part.second, names, text.append(","));
  if (part.operation == Operation::kChoose) append_json(part.third, names, text.append(","));
}

}  // namespace evo
