// hash_ptx: the identity of a kernel's code.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

using Tokens = std::vector<std::string_view>;

constexpr std::string_view kPunctuation = ",;:{}()[]<>=|+-*/&^~!?";

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Cuts PTX into words, strings and punctuation; comments count as blanks. Where it is not certain
/// how the assembler reads on (a string with a backslash or a line end in it, a comment or a string
/// that never ends), all the rest is one token: it counts as it stands.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Tokens run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c)) {
        ++at_;
      } else if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        skip_comment();
      } else if (c == '"') {
        take_string();
      } else if (kPunctuation.find(c) != std::string_view::npos) {
        take(1);
      } else {
        take_word();
      }
    }
    return std::move(tokens_);
  }

 private:
  void take(std::size_t length) {
    tokens_.push_back(text_.substr(at_, length));
    at_ += tokens_.back().size();
  }
  void take_rest() { take(std::string_view::npos); }

  void skip_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) return take_rest();
    at_ = end + 2;
  }

  void take_string() {
    const std::size_t end = text_.find_first_of("\"\\\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"') return take_rest();
    take(end + 1 - at_);
  }

  void take_word() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && !is_blank(text_[end]) && text_[end] != '"' &&
           kPunctuation.find(text_[end]) == std::string_view::npos) {
      ++end;
    }
    take(end - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Tokens tokens_;
};

bool is_number(std::string_view token) {
  return !token.empty() && std::all_of(token.begin(), token.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Walks over what is not code.
class Debris {
 public:
  explicit Debris(const Tokens& tokens) : tokens_(tokens) {}

  /// The token behind the `.loc`, `.file` or debug section at `at`; `at` itself when what stands
  /// there is anything else, or is not written as the PTX ISA says.
  [[nodiscard]] std::size_t skip(std::size_t at) const {
    if (token(at) == ".loc") return skip_location(at);
    if (token(at) == ".file") return skip_file(at);
    if (token(at) == ".section" && token(at + 1).starts_with(".debug_")) return skip_section(at);
    return at;
  }

 private:
  [[nodiscard]] std::string_view token(std::size_t at) const {
    return at < tokens_.size() ? tokens_[at] : std::string_view();
  }
  [[nodiscard]] bool numbers(std::size_t at, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_number(token(at + i))) return false;
    }
    return true;
  }

  /// .loc FILE LINE COLUMN [, function_name LABEL [+ OFFSET]] [, inlined_at FILE LINE COLUMN]
  [[nodiscard]] std::size_t skip_location(std::size_t at) const {
    if (!numbers(at + 1, 3)) return at;
    std::size_t end = at + 4;
    while (token(end) == ",") {
      if (token(end + 1) == "function_name" && token(end + 2).starts_with("$")) {
        end += 3;
        if (token(end) == "+" && is_number(token(end + 1))) end += 2;
      } else if (token(end + 1) == "inlined_at" && numbers(end + 2, 3)) {
        end += 5;
      } else {
        return at;
      }
    }
    return end;
  }

  /// .file NUMBER "NAME" [, TIME, SIZE]
  [[nodiscard]] std::size_t skip_file(std::size_t at) const {
    if (!is_number(token(at + 1)) || !token(at + 2).starts_with('"')) return at;
    std::size_t end = at + 3;
    while (token(end) == "," && is_number(token(end + 1))) end += 2;
    return end;
  }

  /// .section .debug_… { … }
  [[nodiscard]] std::size_t skip_section(std::size_t at) const {
    if (token(at + 2) != "{") return at;
    int depth = 0;
    for (std::size_t i = at + 2; i < tokens_.size(); ++i) {
      if (tokens_[i] == "{") ++depth;
      if (tokens_[i] == "}" && --depth == 0) return i + 1;
    }
    return at;
  }

  const Tokens& tokens_;
};

}  // namespace

std::string hash_ptx(const std::string& ptx) {
  const Tokens tokens = Lexer(ptx).run();
  const Debris debris(tokens);
  ContentHash hash;
  for (std::size_t at = 0; at < tokens.size();) {
    const std::size_t next = debris.skip(at);
    if (next == at) {
      hash.add(tokens[at++]);
    } else {
      at = next;
    }
  }
  return hash.hex();
}

}  // namespace evo
