#include "engine/ptx/lexer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace evo::ptx {
namespace {

enum CharacterClass : std::uint8_t { kBlank = 1, kWordStart = 2, kDigit = 4, kSign = 8 };

constexpr std::array<std::uint8_t, 256> character_classes() {
  std::array<std::uint8_t, 256> classes{};
  const auto put = [&](std::string_view characters, CharacterClass its) {
    for (const char c : characters) classes.at(static_cast<unsigned char>(c)) = its;
  };
  put(" \t\v\f\r", kBlank);
  put("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$%", kWordStart);
  put("0123456789", kDigit);
  put("{}[](),;:+-|!@<>=*~&^/?", kSign);
  return classes;
}

bool is_in(char c, unsigned classes) {
  static constexpr std::array<std::uint8_t, 256> kClasses = character_classes();
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

bool is_word_char(char c) { return is_in(c, kWordStart | kDigit); }

/// The position, from `at` on, of the first character that is in none of the character classes
/// `classes`.
std::size_t behind(std::string_view text, std::size_t at, unsigned classes) {
  while (at < text.size() && is_in(text[at], classes)) ++at;
  return at;
}

}  // namespace

Token Lexer::next() {
  skip_blank();
  const std::size_t start = at_;
  if (start >= text_.size()) return {Token::Kind::kEnd, {}, line_};
  const Token::Kind kind = eat();
  return {kind, text_.substr(start, at_ - start), line_};
}

/// Skips white space and comments. Stops in front of an unterminated comment.
void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    if (text_[at_] == '\n') {
      ++line_;
      ++at_;
    } else if (is_in(text_[at_], kBlank)) {
      at_ = behind(text_, at_, kBlank);
    } else if (peek() == '/' && peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (peek() != '/' || peek(1) != '*' || !skip_block_comment()) {
      return;
    }
  }
}

bool Lexer::skip_block_comment() {
  const std::size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) return false;
  const std::string_view comment = text_.substr(at_, end - at_);
  line_ += static_cast<int>(std::ranges::count(comment, '\n'));
  at_ = end + 2;
  return true;
}

Token::Kind Lexer::eat() {
  const char c = peek();
  if (is_in(c, kWordStart)) {
    eat_word();
    return Token::Kind::kWord;
  }
  if (c == '.' && is_word_char(peek(1))) {
    at_ = behind(text_, at_ + 1, kWordStart | kDigit);
    if (peek() == ':' && peek(1) == ':') eat_word();
    return Token::Kind::kDirective;
  }
  if (is_in(c, kDigit)) {
    eat_number();
    return Token::Kind::kNumber;
  }
  if (c == '"') return eat_string();
  const bool has_no_end = c == '/' && peek(1) == '*';
  at_ = has_no_end ? text_.size() : at_ + 1;
  return is_in(c, kSign) && !has_no_end ? Token::Kind::kPunctuation : Token::Kind::kUnknown;
}

void Lexer::eat_word() {
  for (;;) {
    at_ = behind(text_, at_, kWordStart | kDigit);
    if (peek() == '.' && is_word_char(peek(1))) {
      ++at_;
    } else if (peek() == ':' && peek(1) == ':' && is_word_char(peek(2))) {
      at_ += 2;
    } else {
      return;
    }
  }
}

void Lexer::eat_number() {
  const bool hexadecimal =
      peek() == '0' && std::string_view("xXfFdD").find(peek(1)) != std::string_view::npos;
  while (is_word_char(peek()) || peek() == '.') {
    const char c = peek();
    ++at_;
    if (!hexadecimal && (c == 'e' || c == 'E') && (peek() == '+' || peek() == '-')) ++at_;
  }
}

Token::Kind Lexer::eat_string() {
  const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
  const bool has_end = end != std::string_view::npos && text_[end] == '"';
  at_ = has_end ? end + 1 : text_.size();
  return has_end ? Token::Kind::kString : Token::Kind::kUnknown;
}

std::vector<Token> split_tokens(std::string_view text) {
  constexpr std::size_t kBytesPerToken = 4;  // typical of compilers' output
  std::vector<Token> tokens;
  tokens.reserve(text.size() / kBytesPerToken + 1);
  Lexer lexer(text);
  do tokens.push_back(lexer.next());
  while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

}  // namespace evo::ptx
