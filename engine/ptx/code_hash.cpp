#include "engine/ptx/code_hash.hpp"

#include <span>
#include <vector>

#include "engine/core/hash.hpp"
#include "engine/ptx/line_information.hpp"

namespace evo {
namespace {

using ptx::Token;

/// Adds a word to a hash; for example, "a::b" is added as the fields "a", ":", ":", "b". The
/// division of words into fields must never change, because databases and recordings store the
/// hashes.
void add_word(ContentHash& hash, std::string_view word) {
  for (std::size_t colon = word.find(':'); colon != std::string_view::npos;
       colon = word.find(':')) {
    if (colon > 0) hash.add(word.substr(0, colon));
    hash.add(":");
    word.remove_prefix(colon + 1);
  }
  if (!word.empty()) hash.add(word);
}

/// True for a token that ptxas may divide differently than Lexer does: an unknown character, or a
/// string with a backslash, which ptxas may treat as an escape.
bool is_uncertain(const Token& token) {
  return token.kind == Token::Kind::kUnknown ||
         (token.kind == Token::Kind::kString && token.text.find('\\') != std::string_view::npos);
}

/// True if `tokens` begin with a guard such as "@%p1", which consists of two tokens but is hashed
/// as one field.
bool is_guard(std::span<const Token> tokens) {
  return tokens[0].text == "@" && tokens[1].text.data() == tokens[0].text.data() + 1 &&
         tokens[1].kind == Token::Kind::kWord;
}

}  // namespace

std::string hash_ptx(std::string_view ptx) {
  const std::vector<Token> tokens = ptx::split_tokens(ptx);
  ContentHash hash;
  for (std::size_t at = 0; tokens[at].kind != Token::Kind::kEnd;) {
    const auto rest = std::span(tokens).subspan(at);
    const std::string_view text = rest[0].text;
    if (const std::size_t skipped = ptx::length_of_line_information(rest); skipped > 0) {
      at += skipped;
    } else if (is_uncertain(rest[0])) {
      return hash.add(ptx.substr(static_cast<std::size_t>(text.data() - ptx.data()))).hex();
    } else if (is_guard(rest)) {
      add_word(hash, {text.data(), 1 + rest[1].text.size()});
      at += 2;
    } else {
      rest[0].kind == Token::Kind::kString ? (void)hash.add(text) : add_word(hash, text);
      ++at;
    }
  }
  return hash.hex();
}

}  // namespace evo
