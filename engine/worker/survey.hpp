#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <variant>

#include "engine/core/device_info.hpp"
#include "engine/core/machine_facts.hpp"

namespace evo {

/// Why a device cannot be opened.
struct OpenFailure {
  std::string reason;  ///< in the words of the worker
};

/// The answers of the libraries of a machine. Each library is loaded in a separate process.
struct MachineSurvey {
  NvmlFacts nvml;
  CudaFacts cuda;
  NvrtcFacts nvrtc;
  std::variant<DeviceInfo, OpenFailure> device;  ///< the requested device
};

/// Asks the libraries for their versions, and opens the device as a run does; on a GPU that creates
/// a context. If a library ends its process or does not answer in time, `failure` reports it.
/// Throws MissingError if no process can be started.
[[nodiscard]] MachineSurvey survey_machine(
    const std::filesystem::path& worker, const std::string& device_id,
    std::chrono::milliseconds patience = std::chrono::seconds(30));

/// Asks the CUDA driver alone.
[[nodiscard]] CudaFacts survey_cuda(const std::filesystem::path& worker,
                                    std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace evo
