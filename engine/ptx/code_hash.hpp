#pragma once

#include <string>
#include <string_view>

namespace evo {

/// A hash of the code in `ptx`; PTX texts with equal hashes are the same kernel. The hash does not
/// depend on comments, white space, `.loc`, `.file` and debug sections, but on all other text. An
/// exception is text behind a token that ptxas may divide differently, such as a string with a
/// backslash: there, every character counts.
[[nodiscard]] std::string hash_ptx(std::string_view ptx);

}  // namespace evo
