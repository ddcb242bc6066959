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

/// Splits PTX into tokens. Comments count as white space. An opcode with its modifiers
/// ("ld.global.f32") or a special register ("%tid.x") is one token; a directive (".reg.b32") is
/// divided at every dot. Accepts any text: the rest of the text after an unterminated string or
/// comment becomes one token. `text` must exist as long as the tokens, which are views of it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// Returns the next token. At the end of the text, every call returns a kEnd token.
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

/// Splits `text` into tokens. The last token is a kEnd token.
[[nodiscard]] std::vector<Token> split_tokens(std::string_view text);

}  // namespace evo::ptx
