#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// Text of another program as one can print and store it: NUL and other control characters, and
/// bytes that are not UTF-8, stand there as "\x00".
[[nodiscard]] std::string printable(std::string_view text);

/// A text that a message quotes: of one longer than `most` bytes the beginning and "…".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = 100);

}  // namespace evo
