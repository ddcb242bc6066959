#pragma once

#include <string>
#include <string_view>

namespace evo {

/// Text of another program as one can print and store it: NUL and other control characters, and
/// bytes that are not UTF-8, stand there as "\x00".
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace evo
