#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <variant>

#include "engine/core/device_info.hpp"
#include "engine/core/machine_facts.hpp"

namespace evo {

/// The reason why a device cannot be opened.
struct OpenFailure {
  std::string reason;  ///< the worker's message
};

/// The facts that NVML, the CUDA driver and NVRTC report about a machine. Each library is loaded in
/// a separate process.
struct MachineSurvey {
  NvmlFacts nvml;
  CudaFacts cuda;
  NvrtcFacts nvrtc;
  std::variant<DeviceInfo, OpenFailure> device;  ///< the requested device
};

/// Asks NVML, the CUDA driver and NVRTC for their facts, and opens the device as a run does, which
/// creates a CUDA context on a GPU. If the process of a library ends, sends unreadable messages or
/// does not answer within `patience`, the member `failure` of the facts says so. Throws
/// MissingError if no process can be started.
[[nodiscard]] MachineSurvey survey_machine(
    const std::filesystem::path& worker, const std::string& device_id,
    std::chrono::milliseconds patience = std::chrono::seconds(30));

/// Asks only the CUDA driver for its facts.
[[nodiscard]] CudaFacts survey_cuda(const std::filesystem::path& worker,
                                    std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace evo
