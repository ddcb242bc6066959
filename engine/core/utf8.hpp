#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace evo {

/// The offset of the first byte that is not part of a valid UTF-8 character as defined by RFC 3629
/// (no overlong forms, no surrogates, at most U+10FFFF); nullopt if the text is valid.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// The number of terminal columns of a text whose characters are one column wide.
[[nodiscard]] std::size_t columns_of(std::string_view text);

}  // namespace evo
