#include "engine/core/utf8.hpp"

#include <utf8.h>

#include <algorithm>

namespace evo {

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const auto wrong = utf8::find_invalid(text.begin(), text.end());
  if (wrong == text.end()) return std::nullopt;
  return static_cast<std::size_t>(wrong - text.begin());
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

}  // namespace evo
