#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/device/cuda/nvml_library.hpp"
#include "engine/device/gpu_monitor.hpp"

namespace evo {

/// Monitors a GPU through NVML. open() returns a monitor for the GPU with this PCI bus id
/// ("0000:65:00.0", as returned by cuDeviceGetPCIBusId()), or null if NVML is missing, fails to
/// start, or does not know the GPU. Call open() before this process creates a context on the GPU,
/// because NvmlMonitor regards all processes that use the GPU during open() as other processes.
class NvmlMonitor final : public GpuMonitor {
 public:
  [[nodiscard]] static std::unique_ptr<NvmlMonitor> open(const std::string& pci_bus_id,
                                                         const char* library = kNvmlLibrary);
  ~NvmlMonitor() override;

  /// Finds out under which process id NVML lists this process, which must already have a context on
  /// the GPU. In a container, NVML's id of this process may differ from getpid(), so if exactly one
  /// process has appeared on the GPU since open(), it is assumed to be this process.
  void find_own_process();

  [[nodiscard]] GpuPace pace() override;
  [[nodiscard]] GpuCondition condition() override;
  [[nodiscard]] std::vector<std::string> other_processes() override;
  [[nodiscard]] std::optional<double> busy_percent() override;
  [[nodiscard]] std::optional<double> energy_mj() override;

 private:
  NvmlMonitor(std::unique_ptr<NvmlLibrary> library, nvml::Device device);

  std::unique_ptr<NvmlLibrary> library_;
  nvml::Device device_;
  std::vector<unsigned> before_;  ///< ids of the processes that used the GPU during open()
  unsigned own_ = 0;
};

}  // namespace evo
