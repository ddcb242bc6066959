#pragma once

#include <string>
#include <string_view>

namespace evo {

/// A hash of the code in `ptx`: equal hashes mean the same kernel. Comments, white space, `.loc`,
/// `.file` and debug sections do not change the hash; all other text does.
[[nodiscard]] std::string hash_ptx(std::string_view ptx);

}  // namespace evo
