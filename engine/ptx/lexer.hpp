#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace evo::ptx {

struct Token {
  enum class Kind : unsigned char {
    kWord,
    kDirective,
    kNumber,
    kString,
    kPunctuation,
    /// a character that PTX does not use, or an unterminated string or comment up to the text's end
    kUnknown,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< a view into the text
  int line = 0;           ///< from 1
};

/// Splits PTX into tokens. Comments count as white space. Opcodes with their modifiers
/// ("ld.global.f32") and special registers ("%tid.x") are one word; directives (".reg.b32") are cut
/// at every dot. Accepts any text: an unterminated string or comment makes the rest one token.
/// `text` must outlive the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The next token. At the end of the text, every call returns a kEnd token.
  Token next();

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip_blank();
  bool skip_block_comment();
  Token::Kind eat();
  void eat_word();
  void eat_number();
  Token::Kind eat_string();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// Splits `text` into tokens; the last token is kEnd.
[[nodiscard]] std::vector<Token> split_tokens(std::string_view text);

}  // namespace evo::ptx
