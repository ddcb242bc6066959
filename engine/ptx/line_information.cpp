#include "engine/ptx/line_information.hpp"

#include <algorithm>

namespace evo::ptx {
namespace {

using Tokens = std::span<const Token>;

std::string_view text_at(Tokens tokens, std::size_t at) {
  return at < tokens.size() ? tokens[at].text : std::string_view();
}

bool are_numbers(Tokens tokens, std::size_t at, std::size_t count) {
  const auto is_whole = [](const Token& token) {
    return token.kind == Token::Kind::kNumber &&
           token.text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return at + count <= tokens.size() && std::ranges::all_of(tokens.subspan(at, count), is_whole);
}

/// The number of tokens in a .loc directive: .loc FILE LINE COLUMN [, function_name LABEL [+
/// OFFSET]] [, inlined_at FILE LINE COLUMN]
std::size_t length_of_location(Tokens tokens) {
  if (!are_numbers(tokens, 1, 3)) return 0;
  std::size_t end = 4;
  while (text_at(tokens, end) == ",") {
    if (text_at(tokens, end + 1) == "function_name" && text_at(tokens, end + 2).starts_with("$")) {
      end += 3;
      if (text_at(tokens, end) == "+" && are_numbers(tokens, end + 1, 1)) end += 2;
    } else if (text_at(tokens, end + 1) == "inlined_at" && are_numbers(tokens, end + 2, 3)) {
      end += 5;
    } else {
      return 0;
    }
  }
  return end;
}

/// The number of tokens in a .file directive: .file NUMBER "NAME" [, TIME, SIZE]
std::size_t length_of_file(Tokens tokens) {
  if (!are_numbers(tokens, 1, 1) || !text_at(tokens, 2).starts_with('"')) return 0;
  std::size_t end = 3;
  while (text_at(tokens, end) == "," && are_numbers(tokens, end + 1, 1)) end += 2;
  return end;
}

/// The number of tokens in a debug section: .section .debug_… { … }
std::size_t length_of_debug_section(Tokens tokens) {
  if (!text_at(tokens, 1).starts_with(".debug_") || text_at(tokens, 2) != "{") return 0;
  int depth = 0;
  for (std::size_t at = 2; at < tokens.size(); ++at) {
    if (tokens[at].text == "{") ++depth;
    if (tokens[at].text == "}" && --depth == 0) return at + 1;
  }
  return 0;
}

}  // namespace

std::size_t length_of_line_information(std::span<const Token> tokens) {
  const std::string_view first = text_at(tokens, 0);
  if (first == ".loc") return length_of_location(tokens);
  if (first == ".file") return length_of_file(tokens);
  return first == ".section" ? length_of_debug_section(tokens) : 0;
}

}  // namespace evo::ptx
