#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// One word of an expression.
struct ExpressionToken {
  enum class Kind { kNumber, kName, kOperator, kEnd };

  Kind kind = Kind::kEnd;
  std::string_view text;  ///< as written; empty at the end of the expression
  std::size_t begin = 0;  ///< offset in the expression
  double number = 0;      ///< set for kNumber
};

/// Puts the text in single quotes.
[[nodiscard]] std::string quoted(std::string_view text);

/// The token as shown in messages.
[[nodiscard]] std::string described(const ExpressionToken& token);

/// Throws InputError with the text "bad expression '…' at position n: problem".
[[noreturn]] void fail_expression(std::string_view expression, std::size_t offset,
                                  const std::string& problem);

/// Splits an expression into words: numbers (decimal, exact when whole), names and operators.
/// `expression` must outlive the lexer and its tokens.
class ExpressionLexer {
 public:
  explicit ExpressionLexer(std::string_view expression) : expression_(expression) {}

  /// Returns the next word. Throws InputError if no word of an expression begins at the cursor, or
  /// if a number is malformed, too large, or a whole number that a double cannot represent.
  [[nodiscard]] ExpressionToken next();

 private:
  [[nodiscard]] ExpressionToken number();
  [[nodiscard]] ExpressionToken name();
  [[nodiscard]] ExpressionToken operation();
  [[nodiscard]] ExpressionToken taken(ExpressionToken::Kind kind, std::size_t length);
  void require_exact(const ExpressionToken& token) const;

  std::string_view expression_;
  std::size_t at_ = 0;
};

}  // namespace evo
