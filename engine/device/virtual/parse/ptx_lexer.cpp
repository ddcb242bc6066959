#include "engine/device/virtual/parse/ptx_lexer.hpp"

#include <cctype>

#include "engine/device/virtual/parse/ptx_types.hpp"

namespace evo::ptx {
namespace {

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

bool is_word_char(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      skip_blank();
      if (at_ >= text_.size()) break;
      tokens.push_back(next());
    }
    tokens.push_back({Token::Kind::kEnd, {}, line_});
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      if (peek() == '\n') {
        ++line_;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\0') {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    at_ += 2;
    while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/')) {
      if (peek() == '\n') ++line_;
      ++at_;
    }
    at_ = std::min(at_ + 2, text_.size());
  }

  Token next() {
    const std::size_t start = at_;
    const char c = peek();
    Token::Kind kind = Token::Kind::kPunctuation;
    if (is_word_start(c)) {
      kind = Token::Kind::kWord;
      eat_word();
    } else if (c == '.' && is_word_char(peek(1))) {
      kind = Token::Kind::kDirective;
      ++at_;
      while (is_word_char(peek())) ++at_;
      if (peek() == ':' && peek(1) == ':') eat_word();
    } else if (c >= '0' && c <= '9') {
      kind = Token::Kind::kNumber;
      eat_number();
    } else if (c == '"') {
      kind = Token::Kind::kString;
      ++at_;
      while (at_ < text_.size() && peek() != '"' && peek() != '\n') ++at_;
      if (peek() != '"') throw PtxError("unfinished string", line_);
      ++at_;
    } else if (std::string_view("{}[](),;:+-|!@<>=*~&^/?").find(c) != std::string_view::npos) {
      ++at_;
    } else {
      throw PtxError("unexpected character", line_);
    }
    return {kind, text_.substr(start, at_ - start), line_};
  }

  void eat_word() {
    for (;;) {
      if (is_word_char(peek()) || (peek() == '.' && is_word_char(peek(1)))) {
        ++at_;
      } else if (peek() == ':' && peek(1) == ':' && is_word_start(peek(2))) {
        at_ += 2;
      } else {
        return;
      }
    }
  }

  void eat_number() {
    const bool hexadecimal =
        peek() == '0' && std::string_view("xXfFdD").find(peek(1)) != std::string_view::npos;
    while (is_word_char(peek()) || peek() == '.') {
      const char c = peek();
      ++at_;
      if (!hexadecimal && (c == 'e' || c == 'E') && (peek() == '+' || peek() == '-')) ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> split_tokens(std::string_view text) { return Lexer(text).run(); }

}  // namespace evo::ptx
