#pragma once

#include <string>
#include <string_view>

#include "engine/compile/source.hpp"

namespace evo {

/// Returns `ptx` with the file names of `source` in its line information. NVRTC prefixes every
/// relative file name with its working folder `folder`, although the file lies in another folder.
[[nodiscard]] std::string with_source_names(std::string_view ptx, const KernelSource& source,
                                            std::string_view folder);

}  // namespace evo
