#include "engine/core/expression_words.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace evo {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

constexpr std::array<ExpressionFunction, 14> kFunctions = {{{"ceil_div", 2, 2},
                                                            {"floor_div", 2, 2},
                                                            {"align_up", 2, 2},
                                                            {"floor", 1, 1, Operation::kFloor},
                                                            {"ceil", 1, 1, Operation::kCeil},
                                                            {"round", 1, 1, Operation::kRound},
                                                            {"min", 1, kAny, Operation::kMin},
                                                            {"max", 1, kAny, Operation::kMax},
                                                            {"sqrt", 1, 1, Operation::kSqrt},
                                                            {"exp", 1, 1, Operation::kExp},
                                                            {"ln", 1, 1, Operation::kLn},
                                                            {"log2", 1, 1, Operation::kLog2},
                                                            {"abs", 1, 1},
                                                            {"is_pow2", 1, 1}}};

constexpr std::array<ExpressionWord, 17> kWords = {{{"and", ""},
                                                    {"or", ""},
                                                    {"not", ""},
                                                    {"in", ""},
                                                    {"True", ""},
                                                    {"False", ""},
                                                    {"true", ""},
                                                    {"false", ""},
                                                    {"if", "write CONDITION ? A : B"},
                                                    {"else", "write CONDITION ? A : B"},
                                                    {"is", "write =="},
                                                    {"xor", "write !A != !B"},
                                                    {"lambda", "functions cannot be defined"},
                                                    {"for", "there are no loops"},
                                                    {"None", "a number is needed"},
                                                    {"inf", "a finite number is needed"},
                                                    {"nan", "a finite number is needed"}}};

template <typename Entries>
auto* find_by_name(const Entries& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

using Node = ExpressionTree::Node;

}  // namespace

const ExpressionFunction* find_expression_function(std::string_view name) {
  return find_by_name(kFunctions, name);
}

std::string expression_functions() {
  std::string list;
  for (const ExpressionFunction& function : kFunctions) {
    list += (list.empty() ? "" : ", ") + std::string(function.name);
  }
  return list;
}

const ExpressionWord* find_expression_word(std::string_view name) {
  return find_by_name(kWords, name);
}

Node compared(ExpressionTree& tree, std::string_view op, Node left, Node right) {
  if (op.front() == '>') std::swap(left, right);
  if (op == "<" || op == ">") return tree.add(Operation::kLess, {left, right});
  if (op == "<=" || op == ">=") return tree.add(Operation::kLessEqual, {left, right});
  const Node equal = tree.add(Operation::kEqual, {left, right});
  return op == "==" ? equal : tree.add(Operation::kNot, {equal});
}

Node called(ExpressionTree& tree, std::string_view function, std::span<const Node> arguments) {
  const Node first = arguments.front();
  const Node second = arguments.back();
  const auto operation = find_expression_function(function)->operation;
  if (operation == Operation::kMin || operation == Operation::kMax) {
    Node extreme = first;
    for (const Node argument : arguments.subspan(1))
      extreme = tree.add(*operation, {extreme, argument});
    return extreme;
  }
  if (operation) return tree.add(*operation, {first});
  if (function == "abs") {
    return tree.add(Operation::kMax,
                    {first, tree.add(Operation::kSubtract, {tree.number(0), first})});
  }
  if (function == "is_pow2") {
    const Node zero = tree.number(0);
    const Node is_below = compared(tree, "<", first, tree.number(1));
    const Node skip = tree.skip(is_below, true);
    const Node exponent = tree.add(Operation::kRound, {tree.add(Operation::kLog2, {first})});
    const Node power = tree.add(Operation::kPower, {tree.number(2), exponent});
    const Node is_same = compared(tree, "==", power, first);
    tree.land(skip);
    return tree.add(Operation::kChoose, {is_below, zero, is_same});
  }
  const Operation rounding = function == "floor_div" ? Operation::kFloor : Operation::kCeil;
  const Node quotient = tree.add(rounding, {tree.add(Operation::kDivide, {first, second})});
  return function == "align_up" ? tree.add(Operation::kMultiply, {quotient, second}) : quotient;
}

}  // namespace evo
