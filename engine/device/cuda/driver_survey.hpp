#pragma once

#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/nvml_library.hpp"

namespace evo {

/// All cards of this machine that NVML reports, even if CUDA cannot use them. Does not throw for
/// driver errors: `failure` says why the list is empty.
[[nodiscard]] NvmlFacts read_nvml_facts(const char* library = kNvmlLibrary);

/// The cards visible through the CUDA driver in this environment. Creates no context, so it works
/// even if another process holds a card. Does not throw for driver errors.
[[nodiscard]] CudaFacts read_cuda_facts();

}  // namespace evo
