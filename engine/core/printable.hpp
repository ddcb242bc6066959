#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// Makes the text of another program printable and storable: control characters except newline and
/// tab, and bytes that are not UTF-8, become text such as "\x00".
[[nodiscard]] std::string printable(std::string_view text);

/// Shortens a text that a message quotes. A text longer than `most` bytes is cut and ends with "…".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = 100);

}  // namespace evo
