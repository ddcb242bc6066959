#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// Makes another program's text printable and storable: NUL, other control characters, and bytes
/// that are not UTF-8 become "\x00".
[[nodiscard]] std::string printable(std::string_view text);

/// A text to quote in a message. A text longer than `most` bytes is cut and ends with "…".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = 100);

}  // namespace evo
