#pragma once

#include <string>
#include <string_view>

#include "engine/compile/source.hpp"

namespace evo {

/// PTX whose line information names the files of `source` as `source` does. NVRTC puts the folder
/// it runs in before every name that is no absolute path, and there is no such file.
[[nodiscard]] std::string with_source_names(std::string_view ptx, const KernelSource& source,
                                            std::string_view folder);

}  // namespace evo
