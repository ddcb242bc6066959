#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/cuda/nvml_functions.hpp"

namespace evo {

/// The file name of NVML, the driver's library that reports clocks, power and energy.
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// NVML, which is opened at run time: pointers to its functions (null if the driver lacks the
/// function), and helpers that call them.
struct NvmlLibrary {
  /// Opens NVML; null if the library is missing or lacks nvmlInit_v2 or nvmlShutdown.
  [[nodiscard]] static std::unique_ptr<NvmlLibrary> open(const char* library = kNvmlLibrary);
  NvmlLibrary() = default;
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  [[nodiscard]] bool is_ready() const { return started == nvml::kSuccess; }
  /// The text of an NVML result, such as "Driver/library version mismatch".
  [[nodiscard]] std::string describe(int result) const;
  /// Reads a clock with `read`, one of NVML's clock functions.
  [[nodiscard]] std::optional<double> clock_mhz(nvml::GetClockInfo read, nvml::Device device,
                                                int which) const;
  /// Ids of the processes that have a CUDA context on the GPU; empty if NVML reports an error.
  [[nodiscard]] std::vector<unsigned> process_numbers(nvml::Device device) const;

  std::string path;
  int started = -1;  ///< the result of nvmlInit_v2

  nvml::Shutdown shutdown = nullptr;
  nvml::GetText error_text = nullptr;
  nvml::GetHandleByPciBusId by_bus_id = nullptr;
  nvml::GetClockInfo clock_info = nullptr;
  nvml::GetClockInfo most_clock_info = nullptr;
  nvml::GetClockInfo application_clock = nullptr;
  nvml::GetClockInfo default_application_clock = nullptr;
  nvml::GetEventReasons event_reasons = nullptr;
  nvml::GetTemperature temperature = nullptr;
  nvml::GetPowerUsage power_usage = nullptr;
  nvml::GetTotalEnergy total_energy = nullptr;
  nvml::GetUtilization utilization = nullptr;
  nvml::GetProcesses processes = nullptr;
  nvml::GetSystemText driver_version = nullptr;
  nvml::GetNumber cuda_version = nullptr;
  nvml::GetCount count = nullptr;
  nvml::GetHandleByIndex by_index = nullptr;
  nvml::GetDeviceText name = nullptr;
  nvml::GetDeviceText uuid = nullptr;
  nvml::GetPciInfo pci_info = nullptr;
  nvml::GetMemory memory = nullptr;
  nvml::GetCapability capability = nullptr;
  nvml::GetDeviceNumber compute_mode = nullptr;
  nvml::GetMigMode mig_mode = nullptr;
  nvml::GetDeviceCount most_slices = nullptr;
  nvml::GetSliceByIndex slice_by_index = nullptr;

 private:
  void find_all(void* handle);
};

/// A process as text: "4711 (python3)", or only the id if /proc does not show the process.
[[nodiscard]] std::string process_text(unsigned number);

}  // namespace evo
