#pragma once

#include <string>
#include <string_view>

namespace evo {

/// A hash of the code in `ptx`; PTX texts with equal hashes are the same kernel. The hash does not
/// depend on comments, white space, `.loc`, `.file` and debug sections, but on all other text. If
/// ptxas may divide a token differently than Lexer does, for example a string with a backslash, the
/// hash depends on every character from this token on.
[[nodiscard]] std::string hash_ptx(std::string_view ptx);

}  // namespace evo
