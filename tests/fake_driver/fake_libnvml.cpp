// A fake libnvidia-ml.so.1 for the machine that the file EVO_FAKE_MACHINE describes.

#include <cstdio>
#include <cstring>

#include "engine/device/cuda/nvml_functions.hpp"
#include "tests/fake_driver/fake_machine.hpp"

namespace {

using evo::fake_driver::Gpu;
using evo::fake_driver::machine;
using evo::fake_driver::Slice;
using evo::nvml::Device;
using evo::nvml::kSuccess;
using evo::nvml::Memory;
using evo::nvml::PciInfo;
using evo::nvml::ProcessInfo;

constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;

/// NVML's handle of a GPU is here the address of its GPU object, and the handle of a MIG slice the
/// address of its Slice object.
const Gpu* gpu_of(Device device) {
  for (const Gpu& gpu : machine().gpus) {
    if (static_cast<const void*>(&gpu) == device) return &gpu;
  }
  return nullptr;
}

const Slice* slice_of(Device device) {
  for (const Gpu& gpu : machine().gpus) {
    for (const Slice& slice : gpu.slices) {
      if (static_cast<const void*>(&slice) == device) return &slice;
    }
  }
  return nullptr;
}

template <typename Thing>
Device handle_of(const Thing& thing) {
  return reinterpret_cast<Device>(const_cast<Thing*>(&thing));
}

int copy_text(const std::string& text, char* to, unsigned room) {
  std::snprintf(to, room, "%s", text.c_str());
  return kSuccess;
}

int tell(unsigned figure, unsigned* to) {
  *to = figure;
  return figure != 0 ? kSuccess : kNotSupported;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  evo::fake_driver::misbehave(machine().nvml_does);
  return machine().nvml_init;
}

int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int result) {
  switch (result) {
    case evo::nvml::kNoPermission:
      return "Insufficient Permissions";
    case evo::nvml::kDriverNotLoaded:
      return "Driver Not Loaded";
    case evo::nvml::kLibraryMismatch:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* text, unsigned room) {
  return copy_text(machine().driver, text, room);
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = machine().cuda;
  return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(machine().gpus.size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index >= machine().gpus.size()) return kNotFound;
  *device = handle_of(machine().gpus[index]);
  return kSuccess;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  for (const Gpu& gpu : machine().gpus) {
    char text[32];
    std::snprintf(text, sizeof text, "0000:%02x:00.0", gpu.bus);
    if (std::strcmp(text, bus_id) != 0) continue;
    *device = handle_of(gpu);
    return kSuccess;
  }
  return kNotFound;
}

int nvmlDeviceGetName(Device device, char* text, unsigned room) {
  if (const Slice* slice = slice_of(device)) return copy_text(slice->name, text, room);
  return copy_text(gpu_of(device)->name, text, room);
}

int nvmlDeviceGetUUID(Device device, char* text, unsigned room) {
  if (const Slice* slice = slice_of(device)) return copy_text(slice->uuid, text, room);
  return copy_text(gpu_of(device)->uuid, text, room);
}

int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  *info = {};
  info->bus = gpu_of(device)->bus;
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  if (const Slice* slice = slice_of(device)) {
    *memory = {slice->memory_mib << 20, slice->memory_mib << 20, 0};
    return kSuccess;
  }
  const Gpu& gpu = *gpu_of(device);
  *memory = {gpu.memory_mib << 20, gpu.free_mib << 20, (gpu.memory_mib - gpu.free_mib) << 20};
  return kSuccess;
}

int nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  *major = gpu_of(device)->arch / 10;
  *minor = gpu_of(device)->arch % 10;
  return kSuccess;
}

int nvmlDeviceGetClockInfo(Device device, int, unsigned* mhz) {
  return tell(gpu_of(device)->sm_mhz, mhz);
}

int nvmlDeviceGetMaxClockInfo(Device device, int, unsigned* mhz) {
  return tell(gpu_of(device)->most_sm_mhz, mhz);
}

int nvmlDeviceGetApplicationsClock(Device device, int, unsigned* mhz) {
  return tell(gpu_of(device)->application_mhz, mhz);
}

int nvmlDeviceGetDefaultApplicationsClock(Device device, int, unsigned* mhz) {
  return tell(gpu_of(device)->default_application_mhz, mhz);
}

int nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* reasons) {
  *reasons = gpu_of(device)->held ? evo::nvml::kApplicationClocks : 0;
  return kSuccess;
}

int nvmlDeviceGetComputeMode(Device device, int* mode) {
  *mode = gpu_of(device)->compute_mode;
  return kSuccess;
}

int nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* after_reset) {
  const Gpu& gpu = *gpu_of(device);
  if (!gpu.mig) return kNotSupported;
  *now = *after_reset = *gpu.mig ? 1 : 0;
  return kSuccess;
}

int nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* count) {
  *count = 7;
  return kSuccess;
}

int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* slice) {
  const Gpu& gpu = *gpu_of(device);
  if (index >= gpu.slices.size()) return kNotFound;
  *slice = handle_of(gpu.slices[index]);
  return kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, ProcessInfo* infos) {
  const Gpu& gpu = *gpu_of(device);
  const auto size = static_cast<unsigned>(gpu.processes.size());
  const unsigned room = *count;
  *count = size;
  if (room < size) return evo::nvml::kInsufficientSize;
  for (unsigned i = 0; i < size; ++i) infos[i] = {gpu.processes[i], 1ULL << 30, ~0U, ~0U};
  return kSuccess;
}
}
