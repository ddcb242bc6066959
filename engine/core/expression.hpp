#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace evo {

/// An arithmetic or logical expression over named numbers, as written in problem and space files.
///
/// Operators: + - * / % ^ (power) == != < <= > >= && || ! and c ? a : b. `/` is real division.
/// Functions: ceil_div(a, b), floor_div(a, b), align_up(a, multiple), floor, ceil, round, min, max,
/// sqrt, exp, ln, log2, abs, is_pow2. All values are doubles, exact for integers below 2^53; true
/// is 1.
///
/// Evaluated through muParser's byte code. One object must not be evaluated by two threads at once.
class Expression {
 public:
  /// Throws InputError with the position when `text` is not an expression.
  /// `constants`: names with fixed values; every other name becomes a variable.
  explicit Expression(std::string text, const std::map<std::string, double>& constants = {});
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  [[nodiscard]] const std::string& text() const;

  /// The names the expression uses, sorted, without the constants.
  [[nodiscard]] const std::vector<std::string>& variables() const;

  /// `values` in the order of variables(). Throws InputError when the result is not a finite
  /// number (a division by zero, say).
  [[nodiscard]] double evaluate(std::span<const double> values) const;

  /// Throws InputError naming the first variable that `values` lacks.
  [[nodiscard]] double evaluate(const std::map<std::string, double>& values) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evo
