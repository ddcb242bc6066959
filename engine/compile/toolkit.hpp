#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Candidate paths of libnvrtc. The first path that opens is used. If the environment variable
/// EVO_NVRTC is set, it gives the only path. Without EVO_NVRTC, the list has the library found at
/// build time, those of CUDA_HOME and CUDA_PATH, and the system's library.
[[nodiscard]] std::vector<std::string> nvrtc_libraries();

/// The include folders of libnvrtc's toolkit, absolute and without links: `include`, and
/// `include/cccl`, where CUDA 13 keeps CUB, Thrust and libcu++. If there are no headers beside the
/// library, the list has the folder of CUDA_HOME, CUDA_PATH, the build, or /usr/local/cuda. May be
/// empty.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_include_folders();

/// Adds to `options` a -I for every folder of `toolkit` that they lack, if `source` includes a file
/// from one of these folders.
[[nodiscard]] std::vector<std::string> with_toolkit(
    std::vector<std::string> options, const KernelSource& source,
    const std::vector<std::filesystem::path>& toolkit);

}  // namespace evo
