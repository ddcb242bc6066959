#pragma once

#include <string>
#include <string_view>

namespace evo {

/// A hash of the code in `ptx`; PTX texts with equal hashes are the same kernel. The hash does not
/// depend on comments, white space, `.loc`, `.file` and debug sections, but on all other text.
[[nodiscard]] std::string hash_ptx(std::string_view ptx);

}  // namespace evo
