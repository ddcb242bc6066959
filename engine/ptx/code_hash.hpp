#pragma once

#include <string>
#include <string_view>

namespace evo {

/// The hash under which two compilations are one kernel: comments, blanks, `.loc`, `.file` and
/// debug sections do not count, whatever else there is does.
[[nodiscard]] std::string hash_ptx(std::string_view ptx);

}  // namespace evo
