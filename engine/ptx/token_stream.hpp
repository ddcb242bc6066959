#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ptx/lexer.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// A number literal of PTX: its bit pattern and its type.
struct Literal {
  enum class Kind : std::uint8_t { kInteger, kFloat32, kFloat64 };
  Kind kind = Kind::kInteger;
  std::uint64_t bits = 0;
};

/// Reads a number literal of PTX: 10, 0x1F, 017, 0b101, 5U, 0f3F800000, 0d…, 1.5. Throws PtxError.
[[nodiscard]] Literal parse_literal(std::string_view text, int line);

/// A position in the tokens of a PTX text, which never moves past the end token. The constructor
/// and the member functions throw PtxError for invalid text.
class TokenStream {
 public:
  explicit TokenStream(std::string_view text);

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  [[nodiscard]] bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  [[nodiscard]] int line() const { return peek().line; }
  [[nodiscard]] bool is(std::string_view text) const { return peek().text == text; }
  bool accept(std::string_view text) {
    if (!is(text) || at_end()) return false;
    take();
    return true;
  }
  void expect(std::string_view text);
  /// Consumes the next token, which must be a name or an opcode.
  std::string word();
  /// Consumes the next token, which must be an integer from 0 to `limit`.
  std::uint64_t integer(std::uint64_t limit);
  [[noreturn]] void fail(const std::string& what) const { throw PtxError(what, line()); }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace evo::ptx
