#include "engine/ptx/token_stream.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

namespace evo::ptx {
namespace {

std::uint64_t parse_digits(std::string_view digits, int base, int line) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    throw PtxError("not a number: '" + std::string(digits) + "'", line);
  }
  return value;
}

}  // namespace

Literal parse_literal(std::string_view text, int line) {
  const char mark = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (mark == 'f' || mark == 'F') {
    return {Literal::Kind::kFloat32, parse_digits(text.substr(2), 16, line) & 0xffffffffU};
  }
  if (mark == 'd' || mark == 'D') {
    return {Literal::Kind::kFloat64, parse_digits(text.substr(2), 16, line)};
  }
  if (mark != 'x' && mark != 'X' && text.find_first_of(".eE") != std::string_view::npos) {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size()) throw PtxError("not a number: '" + copy + "'", line);
    return {Literal::Kind::kFloat64, std::bit_cast<std::uint64_t>(value)};
  }
  std::string_view digits = text;
  if (digits.back() == 'U' || digits.back() == 'u') digits.remove_suffix(1);
  if (mark == 'x' || mark == 'X')
    return {Literal::Kind::kInteger, parse_digits(digits.substr(2), 16, line)};
  if (mark == 'b' || mark == 'B')
    return {Literal::Kind::kInteger, parse_digits(digits.substr(2), 2, line)};
  const int base = digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  return {Literal::Kind::kInteger, parse_digits(digits, base, line)};
}

TokenStream::TokenStream(std::string_view text) : tokens_(split_tokens(text)) {
  const auto unknown = std::ranges::find(tokens_, Token::Kind::kUnknown, &Token::kind);
  if (unknown == tokens_.end()) return;
  const std::string_view its = unknown->text;
  throw PtxError(its.starts_with('"')    ? "unfinished string"
                 : its.starts_with("/*") ? "unfinished comment"
                                         : "unexpected character",
                 unknown->line);
}

void TokenStream::expect(std::string_view text) {
  if (!accept(text)) {
    fail("expected '" + std::string(text) + "', found '" + std::string(peek().text) + "'");
  }
}

std::string TokenStream::word() {
  if (peek().kind != Token::Kind::kWord) {
    fail("expected a name, found '" + std::string(peek().text) + "'");
  }
  return std::string(take().text);
}

std::uint64_t TokenStream::integer(std::uint64_t limit) {
  const Token token = take();
  if (token.kind != Token::Kind::kNumber) {
    throw PtxError("expected a number, found '" + std::string(token.text) + "'", token.line);
  }
  const Literal literal = parse_literal(token.text, token.line);
  if (literal.kind != Literal::Kind::kInteger || literal.bits > limit) {
    throw PtxError("number out of range: '" + std::string(token.text) + "'", token.line);
  }
  return literal.bits;
}

}  // namespace evo::ptx
