#include "engine/core/expression_term.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace evo {
namespace {

using Term = ExpressionTerm;

std::string truth_code(const Term& term) {
  return term.is_truth ? term.code : "(" + term.code + "!=0)";
}

std::vector<std::pair<std::size_t, std::size_t>> conjuncts_of(const Term& term) {
  if (!term.conjuncts.empty()) return term.conjuncts;
  return {{term.begin, term.end}};
}

/// ["operation", operands…]
std::string tree_of(std::string_view operation, const std::vector<std::string>& operands) {
  std::string tree = "[\"" + std::string(operation) + "\"";
  for (const std::string& operand : operands) tree.append(",").append(operand);
  return tree + "]";
}

std::string negated_tree(const std::string& tree) { return tree_of("==", {tree, "0"}); }

/// 0 or 1.
std::string truth_tree(const Term& term) {
  return term.is_truth ? term.tree : negated_tree(negated_tree(term.tree));
}

/// Of the comparisons there are == and <.
std::string binary_tree(const std::string& left, std::string_view op, const std::string& right) {
  if (op == "!=") return negated_tree(tree_of("==", {left, right}));
  if (op == ">") return tree_of("<", {right, left});
  if (op == "<=") return negated_tree(tree_of("<", {right, left}));
  if (op == ">=") return negated_tree(tree_of("<", {left, right}));
  return tree_of(op, {left, right});
}

/// A binary operator of the machine itself.
Term binary(const Term& left, std::string_view op, const Term& right) {
  Term term{"(" + left.code + std::string(op) + right.code + ")", left.begin, right.end, false,
            left.can_fail || right.can_fail};
  term.tree = binary_tree(left.tree, op, right.tree);
  return term;
}

/// A function of the machine in place of an operator, which checks its operands.
Term checked_binary(const Term& left, std::string_view op, const char* function,
                    const Term& right) {
  Term term = binary(left, op, right);
  term.code = function + ("(" + left.code) + "," + right.code + ")";
  term.can_fail = true;
  return term;
}

}  // namespace

std::string tree_of_call(std::string_view function, const std::vector<std::string>& arguments) {
  const std::string& first = arguments.front();
  if (function == "abs") return tree_of("max", {first, tree_of("-", {"0", first})});
  if (function == "is_pow2") {
    const std::string power = tree_of("^", {"2", tree_of("round", {tree_of("log2", {first})})});
    return tree_of("?", {tree_of("<", {first, "1"}), "0", tree_of("==", {power, first})});
  }
  const bool is_division =
      function == "ceil_div" || function == "floor_div" || function == "align_up";
  if (!is_division) return tree_of(function, arguments);
  const std::string quotient =
      tree_of(function == "floor_div" ? "floor" : "ceil", {tree_of("/", arguments)});
  return function == "align_up" ? tree_of("*", {quotient, arguments.back()}) : quotient;
}

std::string tree_of_membership(const std::string& value, const std::vector<std::string>& elements) {
  std::vector<std::string> equal;
  equal.reserve(elements.size());
  for (const std::string& element : elements) equal.push_back(tree_of("==", {value, element}));
  return tree_of("max", equal);
}

Term number_term(double value) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(value)).ptr;
  const std::string digits(text.data(), end);
  Term term{value < 0 ? "(0-" + digits + ")" : digits};
  term.is_truth = value == 0 || value == 1;
  term.number = value;
  term.tree = (value < 0 ? "-" : "") + digits;
  return term;
}

Term both(const Term& left, const Term& right, Spelling spelling) {
  const bool truth = right.is_truth || spelling == Spelling::kSymbol;
  Term result = binary(left, "&&", right);
  if (!truth || right.can_fail) {
    result.code = "(" + left.code + "?" + (truth ? truth_code(right) : right.code) + ":0)";
  }
  result.is_truth = truth;
  result.tree = tree_of("?", {left.tree, truth ? truth_tree(right) : right.tree, "0"});
  result.conjuncts = conjuncts_of(left);
  for (const auto& range : conjuncts_of(right)) result.conjuncts.push_back(range);
  return result;
}

Term either(const Term& left, const Term& right, Spelling spelling) {
  const bool truth = (left.is_truth && right.is_truth) || spelling == Spelling::kSymbol;
  Term result = binary(left, "||", right);
  if (!truth) {
    result.code = "(" + left.code + "?" + left.code + ":" + right.code + ")";
  } else if (right.can_fail) {
    result.code = "(" + left.code + "?1:" + truth_code(right) + ")";
  }
  result.is_truth = truth;
  result.tree =
      tree_of("?", {left.tree, truth ? "1" : left.tree, truth ? truth_tree(right) : right.tree});
  return result;
}

Term compared(const Term& left, std::string_view op, const Term& right) {
  Term result = binary(left, op, right);
  result.is_truth = true;
  return result;
}

Term calculated(const Term& left, std::string_view op, const Term& right) {
  if (op == "//") return checked_binary(left, op, "floor_divide", right);
  if (op == "%") return checked_binary(left, op, "modulo", right);
  const bool zero_possible = !right.number || *right.number == 0;
  if (op == "/" && zero_possible) return checked_binary(left, op, "divide", right);
  return binary(left, op, right);
}

Term raised(const Term& base, const Term& exponent) {
  return checked_binary(base, "^", "power", exponent);
}

Term chosen(const Term& condition, const Term& yes, const Term& no) {
  Term term{"(" + condition.code + "?" + yes.code + ":" + no.code + ")", condition.begin, no.end,
            yes.is_truth && no.is_truth, condition.can_fail || yes.can_fail || no.can_fail};
  term.tree = tree_of("?", {condition.tree, yes.tree, no.tree});
  return term;
}

Term negated(const Term& operand, std::size_t begin) {
  Term term{"(" + operand.code + "==0)", begin, operand.end, true, operand.can_fail};
  term.tree = negated_tree(operand.tree);
  return term;
}

}  // namespace evo
