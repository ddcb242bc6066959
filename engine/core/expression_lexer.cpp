#include "engine/core/expression_lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "engine/core/error.hpp"

namespace evo {
namespace {

using Kind = ExpressionToken::Kind;

/// Longer operators come first, so that `**` is not read as two `*`.
constexpr std::array<std::string_view, 24> kOperators = {
    "**", "//", "==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/",
    "%",  "^",  "<",  ">",  "!",  "(",  ")",  "[",  "]", ",", "?", ":"};

struct Hint {
  std::string_view text;
  std::string_view write;
};

/// Operators and signs that users write by habit of other languages, each with the suggestion for
/// the message. Longer entries come first.
constexpr std::array<Hint, 13> kHints = {{
    {"===", "write == to compare"},
    {"<<", "shifts are not in the language; write a multiplication, such as A * 2 ^ B"},
    {">>", "shifts are not in the language; write floor_div(A, 2 ^ B)"},
    {"=<", "write <="},
    {"=>", "write >="},
    {"<>", "write !="},
    {"=", "nothing can be assigned here; write == to compare"},
    {"&", "write && or and"},
    {"|", "write || or or"},
    {"~", "write ! or not"},
    {"\"", "strings are not supported; write the name of the value, such as SWIZZLE_XOR"},
    {"'", "strings are not supported; write the name of the value, such as SWIZZLE_XOR"},
    {";", "one expression is allowed"},
}};

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

std::size_t count_while(std::string_view text, bool (*holds)(char)) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), holds) - text.begin());
}

/// Number of characters of the number at the start of `text`: digits, fraction, exponent.
std::size_t number_length(std::string_view text) {
  std::size_t length = count_while(text, is_digit);
  if (length < text.size() && text[length] == '.') {
    ++length;
    length += count_while(text.substr(length), is_digit);
  }
  if (length < text.size() && (text[length] == 'e' || text[length] == 'E')) {
    std::size_t digits = length + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const std::size_t count = count_while(text.substr(digits), is_digit);
    if (count > 0) length = digits + count;
  }
  return length;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string quoted = "'";
  quoted.append(text).append("'");
  return quoted;
}

std::string described(const ExpressionToken& token) {
  return token.kind == Kind::kEnd ? "the end" : quoted(token.text);
}

void fail_expression(std::string_view expression, std::size_t offset, const std::string& problem) {
  constexpr std::size_t kShown = 200;
  std::string shown(expression.substr(0, kShown));
  if (expression.size() > kShown) shown += "…";
  std::replace_if(shown.begin(), shown.end(), is_control, '?');
  throw InputError("bad expression '" + shown + "' at position " + std::to_string(offset + 1) +
                   ": " + problem);
}

ExpressionToken ExpressionLexer::taken(Kind kind, std::size_t length) {
  const ExpressionToken token{kind, expression_.substr(at_, length), at_, 0};
  at_ += length;
  return token;
}

ExpressionToken ExpressionLexer::next() {
  while (at_ < expression_.size() &&
         std::string_view(" \t\r\n").find(expression_[at_]) != std::string_view::npos) {
    ++at_;
  }
  if (at_ == expression_.size()) return {Kind::kEnd, {}, at_, 0};
  const char c = expression_[at_];
  const bool point = c == '.' && at_ + 1 < expression_.size() && is_digit(expression_[at_ + 1]);
  if (is_digit(c) || point) return number();
  if (is_name_start(c)) return name();
  return operation();
}

ExpressionToken ExpressionLexer::number() {
  ExpressionToken token = taken(Kind::kNumber, number_length(expression_.substr(at_)));
  const std::string text(token.text);
  if (text.size() > 1 && text[0] == '0' && is_digit(text[1])) {
    fail_expression(expression_, token.begin, quoted(text) + ": a number has no leading zeros");
  }
  if (at_ < expression_.size() && (is_name_part(expression_[at_]) || expression_[at_] == '.')) {
    fail_expression(expression_, at_,
                    "after the number " + text + " an operator is missing; numbers are decimal, " +
                        "such as 12, 0.5 and 1e-3");
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), token.number);
  if (error != std::errc() || !std::isfinite(token.number)) {
    fail_expression(expression_, token.begin,
                    "the number " + text + " exceeds the range of a double");
  }
  require_exact(token);
  return token;
}

/// Rejects a whole number that a double would silently round to another number.
void ExpressionLexer::require_exact(const ExpressionToken& token) const {
  constexpr double kExact = 0x1.0p53;
  if (token.number < kExact || count_while(token.text, is_digit) < token.text.size()) return;
  std::uint64_t whole = 0;
  const auto [end, error] =
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), whole);
  constexpr double kBeyond = 0x1.0p64;
  if (error == std::errc() && token.number < kBeyond &&
      static_cast<std::uint64_t>(token.number) == whole) {
    return;
  }
  fail_expression(
      expression_, token.begin,
      "the whole number " + std::string(token.text) +
          " is not exact in a double; allowed: whole numbers up to 2^53, and reals such as "
          "1e20");
}

ExpressionToken ExpressionLexer::name() {
  return taken(Kind::kName, count_while(expression_.substr(at_), is_name_part));
}

ExpressionToken ExpressionLexer::operation() {
  const std::string_view rest = expression_.substr(at_);
  for (const std::string_view text : kOperators) {
    const bool longer_is_wrong = rest.starts_with("===") || rest.starts_with("<<") ||
                                 rest.starts_with(">>") || rest.starts_with("<>");
    if (rest.starts_with(text) && !longer_is_wrong) return taken(Kind::kOperator, text.size());
  }
  for (const Hint& hint : kHints) {
    if (!rest.starts_with(hint.text)) continue;
    fail_expression(expression_, at_, quoted(hint.text) + ": " + std::string(hint.write));
  }
  if (is_control(rest.front())) {
    fail_expression(
        expression_, at_,
        "control character " + std::to_string(rest.front()) + " is not part of the language");
  }
  // Finds the end of a multi-byte UTF-8 character, so that the message shows the whole character.
  std::size_t length = 1;
  while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xc0U) == 0x80U) {
    ++length;
  }
  fail_expression(expression_, at_,
                  quoted(rest.substr(0, length)) + " is not part of the language");
}

}  // namespace evo
