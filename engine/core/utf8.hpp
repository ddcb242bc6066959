#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace evo {

/// Offset of the first byte that does not begin or continue a character of UTF-8 as defined by RFC
/// 3629 (no overlong forms, no surrogates, at most U+10FFFF); nullopt if the text is valid.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Number of terminal columns of a text of single-width characters.
[[nodiscard]] std::size_t columns_of(std::string_view text);

}  // namespace evo
