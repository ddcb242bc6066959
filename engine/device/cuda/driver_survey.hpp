#pragma once

#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/nvml_library.hpp"

namespace evo {

/// All GPUs of this machine that NVML reports, even if CUDA cannot use them. Does not throw for
/// driver errors; the member `failure` describes the last error, and is empty without an error.
[[nodiscard]] NvmlFacts read_nvml_facts();

/// The GPUs that the CUDA driver reports in this environment. Creates no context, so the function
/// works even if another process uses a GPU exclusively. Does not throw for driver errors.
[[nodiscard]] CudaFacts read_cuda_facts();

}  // namespace evo
