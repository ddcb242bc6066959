#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace evo {

/// Parses the whole text as a number of type Number; nullopt if the text has anything else, such as
/// spaces or a plus sign, or if the number is out of range.
template <typename Number>
[[nodiscard]] std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Splits "NAME=text"; nullopt if '=' or the name is missing.
[[nodiscard]] inline std::optional<std::pair<std::string, std::string>> named_in(
    const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0) return std::nullopt;
  return std::pair(text.substr(0, sign), text.substr(sign + 1));
}

}  // namespace evo
