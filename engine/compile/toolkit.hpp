#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/source.hpp"

namespace evo {

/// Candidate paths of libnvrtc; the first that opens is used: the environment variable EVO_NVRTC
/// alone if it is set; otherwise the library found at build time, CUDA_HOME, CUDA_PATH, and the
/// system's.
[[nodiscard]] std::vector<std::string> nvrtc_libraries();

/// The include folders of libnvrtc's toolkit, absolute and without links: `include`, and
/// `include/cccl`, where CUDA 13 keeps CUB, Thrust and libcu++. If the library has no headers
/// beside it: those of CUDA_HOME, CUDA_PATH, the build, or /usr/local/cuda. May be empty.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_include_folders();

/// Adds to `options` a -I for every folder of `toolkit` that is missing there, if `source` includes
/// a file from one of them.
[[nodiscard]] std::vector<std::string> with_toolkit(
    std::vector<std::string> options, const KernelSource& source,
    const std::vector<std::filesystem::path>& toolkit);

}  // namespace evo
