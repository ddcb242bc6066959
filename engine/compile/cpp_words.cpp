#include "engine/compile/cpp_words.hpp"

#include <algorithm>
#include <cctype>

#include "engine/compile/directives.hpp"

namespace evo {
namespace {

bool is_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text with blanks in place of its directives.
std::string without_directives(std::string_view text) {
  std::string code(text);
  for (const Directive& directive : directives_of(text)) {
    for (std::size_t at = directive.begin; at < directive.end; ++at) {
      if (code[at] != '\n') code[at] = ' ';
    }
  }
  return code;
}

std::size_t length_of_text(std::string_view rest) {
  std::size_t length = 1;
  while (length < rest.size() && rest[length] != rest[0] && rest[length] != '\n') {
    length += rest[length] == '\\' ? 2 : 1;
  }
  return std::min(length + 1, rest.size());
}

/// A name or a number, with the quotes that separate digits.
std::size_t length_of_part(std::string_view rest) {
  const bool is_number = std::isdigit(static_cast<unsigned char>(rest[0])) != 0;
  std::size_t length = 1;
  while (length < rest.size()) {
    const bool separates =
        is_number && rest[length] == '\'' && length + 1 < rest.size() && is_part(rest[length + 1]);
    if (!is_part(rest[length]) && !separates) break;
    ++length;
  }
  return length;
}

/// Where the quote of R"x(…)x", u8R"(…)" and the like stands; npos for anything else.
std::size_t quote_of_raw_text(std::string_view rest) {
  for (const std::string_view prefix : {"R\"", "LR\"", "uR\"", "UR\"", "u8R\""}) {
    if (rest.starts_with(prefix)) return prefix.size() - 1;
  }
  return std::string_view::npos;
}

std::size_t length_of_raw_text(std::string_view rest, std::size_t quote) {
  const std::size_t open = rest.find('(');
  if (open == std::string_view::npos) return rest.size();
  const std::string_view mark = rest.substr(quote + 1, open - quote - 1);
  const std::string close = std::string(1, ')').append(mark).append(1, '"');
  const std::size_t end = rest.find(close, open);
  return end == std::string_view::npos ? rest.size() : end + close.size();
}

}  // namespace

std::vector<CppWord> placed_cpp_words(std::string_view text) {
  const std::string code = without_directives(text);
  std::vector<CppWord> words;
  for (std::size_t at = 0; at < code.size();) {
    const std::string_view rest = std::string_view(code).substr(at);
    std::size_t length = 1;
    bool is_kept = std::isspace(static_cast<unsigned char>(rest[0])) == 0;
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      const bool block = rest[1] == '*';
      const std::size_t end = block ? rest.find("*/", 2) : rest.find('\n');
      length = end == std::string_view::npos ? rest.size() : end + (block ? 2 : 0);
      is_kept = false;
    } else if (const std::size_t quote = quote_of_raw_text(rest); quote != std::string_view::npos) {
      length = length_of_raw_text(rest, quote);
    } else if (rest[0] == '"' || rest[0] == '\'') {
      length = length_of_text(rest);
    } else if (is_part(rest[0])) {
      length = length_of_part(rest);
    } else if (rest.starts_with("::")) {
      length = 2;
    }
    if (is_kept) words.push_back({std::string(rest.substr(0, length)), at});
    at += length;
  }
  return words;
}

std::vector<std::string> cpp_words(std::string_view text) {
  std::vector<std::string> words;
  for (CppWord& word : placed_cpp_words(text)) words.push_back(std::move(word.text));
  return words;
}

}  // namespace evo
