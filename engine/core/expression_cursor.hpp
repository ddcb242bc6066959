#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/core/expression_lexer.hpp"

namespace evo {

/// A cursor that moves over the words of an expression.
class ExpressionCursor {
 protected:
  /// The cursor is before the first word of the expression; advance() moves it to the first word.
  explicit ExpressionCursor(std::string_view text) : text_(text), lexer_(text) {}

  void advance();
  [[nodiscard]] bool is(std::string_view text) const;
  [[nodiscard]] bool is_comparison() const;
  /// If the current word is `text`, moves past it and returns true; otherwise returns false.
  bool take(std::string_view text);
  /// Moves past `text`. Throws InputError, which says where `text` is expected, if the current word
  /// differs from `text`.
  void expect(std::string_view text, const std::string& what);
  /// Throws InputError, which names the current word and its position, says what is expected, and,
  /// for some frequent mistakes, gives a suggestion.
  [[noreturn]] void fail_here(const std::string& expected) const;

  std::string_view text_;
  ExpressionToken token_;
  std::size_t last_end_ = 0;  ///< where the word before token_ ends

 private:
  ExpressionLexer lexer_;
};

}  // namespace evo
