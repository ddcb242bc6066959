#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/expression_grammar.hpp"

namespace evo {

/// An arithmetic or logical expression over named numbers, as written in problem and space files.
///
/// Operators: + - * / // % ^ ** == != < <= > >= && || ! and or not in, and c ? a : b. `/` is real
/// division, `//` and `%` are Python's, `^` and `**` are the power. Comparisons chain as in Python.
/// Functions: ceil_div(a, b), floor_div(a, b), align_up(a, multiple), floor, ceil, round, min, max,
/// sqrt, exp, ln, log2, abs, is_pow2. All values are doubles, exact for integers below 2^53; true
/// is 1. parse_expression() documents the grammar; any other text is an error.
class Expression {
 public:
  /// Throws InputError with the position if `text` is not an expression.
  /// `constants`: names with fixed values; every other name becomes a variable.
  /// `where`: file and key of the expression, for messages.
  explicit Expression(std::string text, const std::map<std::string, double>& constants = {},
                      std::string where = {});

  [[nodiscard]] const std::string& text() const { return text_; }

  /// The names that the expression uses, sorted, without the constants.
  [[nodiscard]] const std::vector<std::string>& variables() const { return parsed_.variables; }

  /// `values`: the values of variables(), in the same order. Throws InputError naming the values if
  /// the result is not a finite number, for example after a division by zero. Operands whose value
  /// does not matter (as after `false and`) are not evaluated.
  [[nodiscard]] double evaluate(std::span<const double> values) const;

  /// Like evaluate(), but returns nullopt instead of throwing.
  [[nodiscard]] std::optional<double> try_evaluate(std::span<const double> values) const;

  /// Evaluates the expression with `values`, by name. Throws InputError naming the first variable
  /// that `values` lacks.
  [[nodiscard]] double evaluate(const std::map<std::string, double>& values) const;

  /// Text such as "file: key: expression 'A + B' with A=1, B=2", with which messages about the
  /// expression's value begin. Variables that `values` lacks are left out.
  [[nodiscard]] std::string described(const std::map<std::string, double>& values) const;

 private:
  [[nodiscard]] std::string prefix() const;

  std::string text_;
  std::string where_;
  ParsedExpression parsed_;
};

/// The parts of a conjunction: "(a) && (b || c)" gives "a" and "b || c"; "a < b < c" gives "a < b"
/// and "b < c". An expression whose outermost operator is no conjunction is returned whole. Throws
/// InputError for a bad expression.
[[nodiscard]] std::vector<std::string> split_conjunction(std::string_view expression);

}  // namespace evo
