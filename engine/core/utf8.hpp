#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace evo {

/// Offset of the first byte that does not begin or continue a character of UTF-8 as RFC 3629 has
/// it (no overlong forms, no surrogates, at most U+10FFFF); nothing where all is well.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Columns that a text of single-width characters takes on a terminal.
[[nodiscard]] std::size_t columns_of(std::string_view text);

}  // namespace evo
