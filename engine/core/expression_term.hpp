#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

/// A part of an expression, translated for ExpressionMachine. Its code stands for itself: it needs
/// no parentheses around it.
struct ExpressionTerm {
  std::string code;
  std::size_t begin = 0;  ///< in the expression as written
  std::size_t end = 0;
  bool is_truth = false;  ///< only ever 0 or 1
  bool can_fail = false;  ///< has no value for some values of its variables
  std::optional<double> number = {};
  /// Operands of the conjunction that it is, as ranges of the expression; empty when it is none.
  std::vector<std::pair<std::size_t, std::size_t>> conjuncts = {};
  std::string tree = {};  ///< as TranslatedExpression::tree
};

/// The tree of a function of the grammar.
[[nodiscard]] std::string tree_of_call(std::string_view function,
                                       const std::vector<std::string>& arguments);

/// The tree of `in`: every element is evaluated.
[[nodiscard]] std::string tree_of_membership(const std::string& value,
                                             const std::vector<std::string>& elements);

/// How an `and` or `or` was written: && and || give 0 or 1, Python's words give an operand.
enum class Spelling { kSymbol, kWord };

/// A number; begin and end are left to the caller.
[[nodiscard]] ExpressionTerm number_term(double value);

/// left && right: the right one only counts, and only fails, where the left one holds.
[[nodiscard]] ExpressionTerm both(const ExpressionTerm& left, const ExpressionTerm& right,
                                  Spelling spelling);

/// left || right: the right one only counts, and only fails, where the left one does not hold.
[[nodiscard]] ExpressionTerm either(const ExpressionTerm& left, const ExpressionTerm& right,
                                    Spelling spelling);

/// `op`: == != < <= > >=
[[nodiscard]] ExpressionTerm compared(const ExpressionTerm& left, std::string_view op,
                                      const ExpressionTerm& right);

/// `op`: + - * / // %. The divisions fail for a divisor of 0.
[[nodiscard]] ExpressionTerm calculated(const ExpressionTerm& left, std::string_view op,
                                        const ExpressionTerm& right);

/// Fails where the power is no finite number.
[[nodiscard]] ExpressionTerm raised(const ExpressionTerm& base, const ExpressionTerm& exponent);

[[nodiscard]] ExpressionTerm chosen(const ExpressionTerm& condition, const ExpressionTerm& yes,
                                    const ExpressionTerm& no);

/// 1 for 0, 0 for everything else.
[[nodiscard]] ExpressionTerm negated(const ExpressionTerm& operand, std::size_t begin);

}  // namespace evo
