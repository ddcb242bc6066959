#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/core/expression_lexer.hpp"

namespace evo {

/// Walks over the words of an expression, one of which is the current one.
class ExpressionCursor {
 protected:
  /// advance() reads the first word.
  explicit ExpressionCursor(std::string_view text) : text_(text), lexer_(text) {}

  void advance();
  [[nodiscard]] bool is(std::string_view text) const;
  [[nodiscard]] bool is_comparison() const;
  /// Goes on behind `text`; false where another word stands.
  bool take(std::string_view text);
  /// take(), or an InputError that says where `text` is expected.
  void expect(std::string_view text, const std::string& what);
  /// Throws InputError with the current word, what is expected, and what to write in its place.
  [[noreturn]] void fail_here(const std::string& expected) const;

  std::string_view text_;
  ExpressionToken token_;
  std::size_t last_end_ = 0;  ///< end of the word before token_

 private:
  ExpressionLexer lexer_;
};

}  // namespace evo
