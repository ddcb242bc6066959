#pragma once

#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/nvml_library.hpp"

namespace evo {

/// All cards of this machine as NVML tells of them, whether CUDA can use them or not. Never throws
/// for what the driver does: `failure` says why there is nothing.
[[nodiscard]] NvmlFacts read_nvml_facts(const char* library = kNvmlLibrary);

/// The cards that programs of this environment see through the CUDA driver. Makes no context: who
/// holds a card does not matter. Never throws for what the driver does.
[[nodiscard]] CudaFacts read_cuda_facts();

}  // namespace evo
