#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Paths at which libnvrtc may be; the first that dlopen() can open is used. If the environment
/// variable EVO_NVRTC is set, its value is the only path. Without EVO_NVRTC, the list has the
/// library found at build time, then the libraries of the toolkits in CUDA_HOME and CUDA_PATH, of
/// Python packages, and of the system.
[[nodiscard]] std::vector<std::string> nvrtc_libraries();

/// The include folders of libnvrtc's toolkit, absolute and without links: `include`, and
/// `include/cccl`, where CUDA 13 keeps CUB, Thrust and libcu++. If there are no headers beside the
/// library, the headers come from the first of CUDA_HOME, CUDA_PATH, the toolkit found at build
/// time, and /usr/local/cuda that has them. May be empty.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_include_folders();

/// Adds to `options` an option -I for each folder in `toolkit` that has none yet, if `source`
/// includes a file that is in one of these folders and in no include folder of `options`.
[[nodiscard]] std::vector<std::string> with_toolkit(
    std::vector<std::string> options, const KernelSource& source,
    const std::vector<std::filesystem::path>& toolkit);

}  // namespace evo
