#pragma once

#include <string>
#include <string_view>

namespace evo {

/// Two compilations with the same hash are the same kernel. Comments, white space, `.loc`, `.file`
/// and debug sections do not change the hash; everything else does.
[[nodiscard]] std::string hash_ptx(std::string_view ptx);

}  // namespace evo
