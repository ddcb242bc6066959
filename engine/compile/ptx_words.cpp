#include "engine/compile/ptx_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace evo {
namespace {

constexpr std::array<bool, 256> table_of_parts() {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    table.at(static_cast<std::size_t>(c)) =
        is_letter || is_digit || c == '_' || c == '$' || c == '.' || c == '%';
  }
  return table;
}

}  // namespace

bool is_part_of_ptx_word(char c) {
  static constexpr std::array<bool, 256> kTable = table_of_parts();
  return kTable[static_cast<unsigned char>(c)];
}

std::vector<std::string_view> words_of(std::string_view ptx) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view rest = ptx.substr(at);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest[0] == '"') {
      const std::size_t end = rest.find('"', 1);
      length = end == std::string_view::npos ? rest.size() : end + 1;
    } else if (is_part_of_ptx_word(rest[0])) {
      while (length < rest.size() && is_part_of_ptx_word(rest[length])) ++length;
      words.push_back(rest.substr(0, length));
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) == 0) {
      words.push_back(rest.substr(0, 1));
    }
    at += length;
  }
  return words;
}

}  // namespace evo
