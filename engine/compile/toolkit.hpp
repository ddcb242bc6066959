#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Where libnvrtc is looked for, the first that opens is taken: the environment variable EVO_NVRTC
/// alone, else the library that the build found, CUDA_HOME, CUDA_PATH, the system's.
[[nodiscard]] std::vector<std::string> nvrtc_libraries();

/// The include folders of the toolkit that libnvrtc comes from, absolute and without links:
/// `include`, and `include/cccl` where CUDA 13 keeps CUB, Thrust and libcu++. Of a libnvrtc without
/// headers beside it, those of CUDA_HOME, CUDA_PATH, the headers of the build, /usr/local/cuda.
/// Empty when there are none.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_include_folders();

/// `options` with a -I for every folder of `toolkit` that is not among them, when `source` includes
/// something that lies in one; otherwise as they are.
[[nodiscard]] std::vector<std::string> with_toolkit(
    std::vector<std::string> options, const KernelSource& source,
    const std::vector<std::filesystem::path>& toolkit);

}  // namespace evo
