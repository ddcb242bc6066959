#include "engine/device/cuda/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "engine/core/library_path.hpp"
#include "engine/core/printable.hpp"

namespace evo {
namespace {

template <typename Function>
void find(void* handle, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

std::unique_ptr<NvmlLibrary> NvmlLibrary::open(const char* library) {
  // dlclose() is never called, because the driver's libraries cannot be unloaded.
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  nvml::Init init = nullptr;
  find(handle, init, "nvmlInit_v2");
  auto found = std::make_unique<NvmlLibrary>();
  found->path = library_file(handle);
  found->find_all(handle);
  if (init == nullptr || found->shutdown == nullptr) return nullptr;
  found->started = init();
  return found;
}

NvmlLibrary::~NvmlLibrary() {
  if (is_ready()) shutdown();
}

void NvmlLibrary::find_all(void* handle) {
  find(handle, shutdown, "nvmlShutdown");
  find(handle, error_text, "nvmlErrorString");
  find(handle, by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  find(handle, clock_info, "nvmlDeviceGetClockInfo");
  find(handle, most_clock_info, "nvmlDeviceGetMaxClockInfo");
  find(handle, application_clock, "nvmlDeviceGetApplicationsClock");
  find(handle, default_application_clock, "nvmlDeviceGetDefaultApplicationsClock");
  // Newer drivers call this function of NVML nvmlDeviceGetCurrentClocksEventReasons, older drivers
  // nvmlDeviceGetCurrentClocksThrottleReasons.
  find(handle, event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (event_reasons == nullptr) {
    find(handle, event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  find(handle, temperature, "nvmlDeviceGetTemperature");
  find(handle, power_usage, "nvmlDeviceGetPowerUsage");
  find(handle, total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(handle, utilization, "nvmlDeviceGetUtilizationRates");
  find(handle, processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(handle, driver_version, "nvmlSystemGetDriverVersion");
  find(handle, cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  find(handle, count, "nvmlDeviceGetCount_v2");
  find(handle, by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(handle, name, "nvmlDeviceGetName");
  find(handle, uuid, "nvmlDeviceGetUUID");
  find(handle, pci_info, "nvmlDeviceGetPciInfo_v3");
  find(handle, memory, "nvmlDeviceGetMemoryInfo");
  find(handle, capability, "nvmlDeviceGetCudaComputeCapability");
  find(handle, compute_mode, "nvmlDeviceGetComputeMode");
  find(handle, mig_mode, "nvmlDeviceGetMigMode");
  find(handle, most_slices, "nvmlDeviceGetMaxMigDeviceCount");
  find(handle, slice_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
}

std::string NvmlLibrary::describe(int result) const {
  const char* text = error_text != nullptr ? error_text(result) : nullptr;
  return fmt::format("{} (NVML error {})", text != nullptr ? text : "unknown error", result);
}

std::optional<double> NvmlLibrary::clock_mhz(nvml::GetClockInfo read, nvml::Device device,
                                             int which) const {
  unsigned mhz = 0;
  if (read == nullptr || read(device, which, &mhz) != nvml::kSuccess) return {};
  return mhz;
}

std::vector<unsigned> NvmlLibrary::process_numbers(nvml::Device device) const {
  constexpr unsigned kRoom = 64;
  if (processes == nullptr) return {};
  std::vector<nvml::ProcessInfo> infos(kRoom);
  unsigned found = kRoom;
  int result = processes(device, &found, infos.data());
  if (result == nvml::kInsufficientSize) {
    infos.resize(std::size_t{found} + kRoom);
    found = static_cast<unsigned>(infos.size());
    result = processes(device, &found, infos.data());
  }
  if (result != nvml::kSuccess) return {};
  std::vector<unsigned> numbers;
  for (std::size_t i = 0; i < std::min<std::size_t>(found, infos.size()); ++i) {
    numbers.push_back(infos[i].pid);
  }
  return numbers;
}

std::string process_text(unsigned number) {
  std::ifstream file(fmt::format("/proc/{}/comm", number));
  std::string process;
  if (!std::getline(file, process) || process.empty()) return std::to_string(number);
  return fmt::format("{} ({})", number, printable(process));
}

}  // namespace evo
