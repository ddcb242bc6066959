#include "engine/device/cuda/driver_survey.hpp"

#include <fmt/format.h>

#include <array>

#include "engine/core/error.hpp"
#include "engine/device/cuda/cuda_info.hpp"

namespace evo {
namespace {

/// Converts 12040 to "12.4".
std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

template <typename Get>
std::string nvml_text(Get get) {
  constexpr unsigned kLongest = 96;
  std::array<char, kLongest> text{};
  return get(text.data(), kLongest) == nvml::kSuccess ? std::string(text.data()) : std::string();
}

std::string text_of(nvml::GetDeviceText read, nvml::Device device) {
  if (read == nullptr) return {};
  return nvml_text([&](char* text, unsigned room) { return read(device, text, room); });
}

std::optional<nvml::Memory> memory_of(const NvmlLibrary& nvml, nvml::Device device) {
  nvml::Memory memory{};
  if (nvml.memory == nullptr || nvml.memory(device, &memory) != nvml::kSuccess) return {};
  return memory;
}

/// The PCI bus id as cuDeviceGetPCIBusId() writes it.
std::string bus_id_of(const NvmlLibrary& nvml, nvml::Device device) {
  nvml::PciInfo info{};
  if (nvml.pci_info == nullptr || nvml.pci_info(device, &info) != nvml::kSuccess) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device);
}

std::optional<bool> mig_of(const NvmlLibrary& nvml, nvml::Device device) {
  unsigned now = 0;
  unsigned after_reset = 0;
  if (nvml.mig_mode == nullptr || nvml.mig_mode(device, &now, &after_reset) != nvml::kSuccess) {
    return {};
  }
  return now == 1;
}

std::vector<GpuSlice> slices_of(const NvmlLibrary& nvml, nvml::Device device) {
  unsigned most = 0;
  if (nvml.most_slices == nullptr || nvml.slice_by_index == nullptr ||
      nvml.most_slices(device, &most) != nvml::kSuccess) {
    return {};
  }
  std::vector<GpuSlice> slices;
  for (unsigned i = 0; i < most; ++i) {
    nvml::Device slice = nullptr;
    if (nvml.slice_by_index(device, i, &slice) != nvml::kSuccess) continue;
    GpuSlice& found = slices.emplace_back();
    found.name = text_of(nvml.name, slice);
    found.uuid = text_of(nvml.uuid, slice);
    if (const auto memory = memory_of(nvml, slice)) found.memory_bytes = memory->total;
  }
  return slices;
}

GpuFacts gpu_facts(const NvmlLibrary& nvml, nvml::Device device) {
  GpuFacts gpu;
  gpu.name = text_of(nvml.name, device);
  gpu.uuid = text_of(nvml.uuid, device);
  gpu.bus_id = bus_id_of(nvml, device);
  int major = 0;
  int minor = 0;
  if (nvml.capability != nullptr && nvml.capability(device, &major, &minor) == nvml::kSuccess) {
    gpu.arch = fmt::format("sm_{}{}", major, minor);
  }
  if (const auto memory = memory_of(nvml, device)) {
    gpu.memory_bytes = memory->total;
    gpu.free_bytes = memory->free;
  }
  const auto clock = [&](nvml::GetClockInfo read) {
    return nvml.clock_mhz(read, device, nvml::kClockSm);
  };
  gpu.sm_clock_mhz = clock(nvml.clock_info);
  gpu.most_sm_clock_mhz = clock(nvml.most_clock_info);
  gpu.application_clock_mhz = clock(nvml.application_clock);
  gpu.default_application_clock_mhz = clock(nvml.default_application_clock);
  unsigned long long reasons = 0;
  gpu.held_at_application_clock = nvml.event_reasons != nullptr &&
                                  nvml.event_reasons(device, &reasons) == nvml::kSuccess &&
                                  (reasons & nvml::kApplicationClocks) != 0;
  int mode = 0;
  if (nvml.compute_mode != nullptr && nvml.compute_mode(device, &mode) == nvml::kSuccess) {
    gpu.compute_mode = static_cast<ComputeMode>(mode);
  }
  gpu.mig = mig_of(nvml, device);
  if (gpu.mig.value_or(false)) gpu.slices = slices_of(nvml, device);
  for (const unsigned number : nvml.process_numbers(device)) {
    gpu.processes.push_back(process_text(number));
  }
  return gpu;
}

}  // namespace

NvmlFacts read_nvml_facts() {
  NvmlFacts facts;
  const auto nvml = NvmlLibrary::open();
  if (!nvml) {
    facts.failure = fmt::format("there is no library {}", kNvmlLibrary);
    return facts;
  }
  facts.library = nvml->path;
  if (!nvml->is_ready()) {
    facts.failure = nvml->describe(nvml->started);
    return facts;
  }
  if (nvml->driver_version != nullptr) facts.driver = nvml_text(nvml->driver_version);
  int cuda = 0;
  if (nvml->cuda_version != nullptr && nvml->cuda_version(&cuda) == nvml::kSuccess) {
    facts.cuda = cuda_version_text(cuda);
  }
  unsigned count = 0;
  if (nvml->count == nullptr || nvml->by_index == nullptr) return facts;
  if (const int result = nvml->count(&count); result != nvml::kSuccess) {
    facts.failure = nvml->describe(result);
    return facts;
  }
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    const int result = nvml->by_index(i, &device);
    if (result == nvml::kSuccess) {
      facts.gpus.push_back(gpu_facts(*nvml, device));
    } else {
      facts.failure = fmt::format("GPU {}: {}", i, nvml->describe(result));
    }
  }
  return facts;
}

CudaFacts read_cuda_facts() {
  CudaFacts facts;
  try {
    const CudaDriver driver = CudaDriver::open();
    facts.library = driver.path;
    int version = 0;
    if (driver.cuDriverGetVersion(&version) == CUDA_SUCCESS) {
      facts.cuda = cuda_version_text(version);
    }
    const int count = count_cuda_devices(driver);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      CUdevice device = 0;
      driver.require(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
      facts.gpus.push_back(read_cuda_gpu(driver, device, ordinal));
    }
  } catch (const Error& error) {
    facts.failure = error.what();
  }
  return facts;
}

}  // namespace evo
