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

/// A binary operator of the machine itself.
Term binary(const Term& left, std::string_view op, const Term& right) {
  return {"(" + left.code + std::string(op) + right.code + ")", left.begin, right.end, false,
          left.can_fail || right.can_fail};
}

/// A function of the machine in place of an operator, which checks its operands.
Term checked_binary(const Term& left, const char* function, const Term& right) {
  return {function + ("(" + left.code) + "," + right.code + ")", left.begin, right.end, false,
          true};
}

}  // namespace

Term number_term(double value) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(value)).ptr;
  const std::string digits(text.data(), end);
  Term term{value < 0 ? "(0-" + digits + ")" : digits};
  term.is_truth = value == 0 || value == 1;
  term.number = value;
  return term;
}

Term both(const Term& left, const Term& right, Spelling spelling) {
  const bool truth = right.is_truth || spelling == Spelling::kSymbol;
  Term result = binary(left, "&&", right);
  if (!truth || right.can_fail) {
    result.code = "(" + left.code + "?" + (truth ? truth_code(right) : right.code) + ":0)";
  }
  result.is_truth = truth;
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
  return result;
}

Term compared(const Term& left, std::string_view op, const Term& right) {
  Term result = binary(left, op, right);
  result.is_truth = true;
  return result;
}

Term calculated(const Term& left, std::string_view op, const Term& right) {
  if (op == "//") return checked_binary(left, "floor_divide", right);
  if (op == "%") return checked_binary(left, "modulo", right);
  const bool zero_possible = !right.number || *right.number == 0;
  if (op == "/" && zero_possible) return checked_binary(left, "divide", right);
  return binary(left, op, right);
}

Term raised(const Term& base, const Term& exponent) {
  return checked_binary(base, "power", exponent);
}

Term chosen(const Term& condition, const Term& yes, const Term& no) {
  return {"(" + condition.code + "?" + yes.code + ":" + no.code + ")", condition.begin, no.end,
          yes.is_truth && no.is_truth, condition.can_fail || yes.can_fail || no.can_fail};
}

Term negated(const Term& operand, std::size_t begin) {
  return {"(" + operand.code + "==0)", begin, operand.end, true, operand.can_fail};
}

}  // namespace evo
