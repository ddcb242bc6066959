#include "engine/core/expression_cursor.hpp"

#include <algorithm>
#include <array>

#include "engine/core/expression_words.hpp"

namespace evo {

void ExpressionCursor::fail_here(const std::string& expected) const {
  std::string hint;
  if (is(",")) {
    hint = "; a comma only separates arguments; decimal numbers have a point, as in 0.001";
  } else if (is("[")) {
    hint = "; a list may only follow 'in'";
  } else if (const ExpressionWord* word = find_expression_word(token_.text);
             word != nullptr && !word->write.empty()) {
    hint.append("; ").append(word->write);
  }
  fail_expression(text_, token_.begin, described(token_) + ": " + expected + hint);
}

void ExpressionCursor::advance() {
  last_end_ = token_.begin + token_.text.size();
  token_ = lexer_.next();
}

bool ExpressionCursor::is(std::string_view text) const {
  return token_.kind != ExpressionToken::Kind::kEnd && token_.text == text;
}

bool ExpressionCursor::is_comparison() const {
  static constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<",
                                                                   "<=", ">",  ">="};
  return std::find(kComparisons.begin(), kComparisons.end(), token_.text) != kComparisons.end();
}

bool ExpressionCursor::take(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

void ExpressionCursor::expect(std::string_view text, const std::string& what) {
  if (!take(text)) fail_here(quoted(text) + " is expected " + what);
}

}  // namespace evo
