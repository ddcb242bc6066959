// A fake libnvidia-ml.so.1 with one GPU, for tests of the code that opens this library. The
// environment variable EVO_FAKE_NVML selects the behaviour of the library.

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "engine/device/cuda/nvml_functions.hpp"

namespace {

using evo::nvml::Device;
using evo::nvml::kInsufficientSize;
using evo::nvml::kSuccess;
using evo::nvml::ProcessInfo;
using evo::nvml::Utilization;

constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;
int opened = 0;
int listed = 0;

bool does(const char* what) {
  const char* asked = std::getenv("EVO_FAKE_NVML");
  return asked != nullptr && std::strstr(asked, what) != nullptr;
}

Device the_gpu() { return reinterpret_cast<Device>(&opened); }

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (does("no driver")) return 9;
  ++opened;
  listed = 0;
  return kSuccess;
}

int nvmlShutdown() {
  --opened;
  return kSuccess;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  if (std::strcmp(bus_id, "0000:65:00.0") != 0) return kNotFound;
  *device = the_gpu();
  return kSuccess;
}

int nvmlDeviceGetClockInfo(Device, int clock, unsigned* mhz) {
  if (does("no clocks")) return kNotSupported;
  *mhz = clock == evo::nvml::kClockSm ? 1980 : 2619;
  return kSuccess;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* reasons) {
  *reasons = does("hot") ? 0x4 | 0x40 | 0x1 : 0x1;
  return kSuccess;
}

int nvmlDeviceGetTemperature(Device, int, unsigned* celsius) {
  *celsius = 41;
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(Device, unsigned* milliwatts) {
  *milliwatts = 312500;
  return kSuccess;
}

int nvmlDeviceGetTotalEnergyConsumption(Device, unsigned long long* millijoules) {
  if (does("no energy")) return kNotSupported;
  *millijoules = 123456789012;
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(Device, Utilization* rates) {
  *rates = {37, 5};
  return kSuccess;
}

/// Lists the processes on the GPU: by default another process and this process. With
/// EVO_FAKE_NVML=crowd, lists a hundred processes. With EVO_FAKE_NVML=contained, lists one other
/// process in the first call, and from the second call on also this process, but under another
/// process id, as in a container. EVO_FAKE_NVML_PROCESS, if set, is the id of the first listed
/// process.
int nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count, ProcessInfo* infos) {
  ++listed;
  const unsigned size = does("crowd") ? 100 : does("contained") && listed < 2 ? 1 : 2;
  const unsigned room = *count;
  *count = size;
  if (room < size) return kInsufficientSize;
  for (unsigned i = 0; i < size; ++i) infos[i] = {4200000 + i, 1 << 20, ~0U, ~0U};
  const char* named = std::getenv("EVO_FAKE_NVML_PROCESS");
  if (named != nullptr) infos[0].pid = static_cast<unsigned>(std::atoi(named));
  if (!does("contained") && size == 2) infos[1].pid = static_cast<unsigned>(getpid());
  return kSuccess;
}
}
