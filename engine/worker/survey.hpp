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
  std::string reason;  ///< as the worker said it
};

/// The answers of the libraries of a machine, each asked in a process of its own.
struct MachineSurvey {
  NvmlFacts nvml;
  CudaFacts cuda;
  NvrtcFacts nvrtc;
  std::variant<DeviceInfo, OpenFailure> device;  ///< the one that was asked for
};

/// Asks the libraries, and opens the device as a run would: on a GPU that makes a context. A
/// library that ends its process, or does not answer for so long, is a `failure` that says so.
/// Throws MissingError when no process can be started.
[[nodiscard]] MachineSurvey survey_machine(
    const std::filesystem::path& worker, const std::string& device_id,
    std::chrono::milliseconds patience = std::chrono::seconds(30));

/// Asks the CUDA driver alone.
[[nodiscard]] CudaFacts survey_cuda(const std::filesystem::path& worker,
                                    std::chrono::milliseconds patience = std::chrono::seconds(30));

}  // namespace evo
