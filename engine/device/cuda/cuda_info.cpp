#include "engine/device/cuda/cuda_info.hpp"

#include <array>
#include <string>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Dense operations (2 per multiply-add) of the fastest matrix unit per clock and multiprocessor,
/// e4m3 or int8 where the unit has it (CUDA programming guide, NVIDIA architecture whitepapers).
/// Unknown architectures get the highest known: the floor may be too low, never too high.
double peak_ops_per_clock(int major, int minor) {
  constexpr double kAmpere = 4096;
  constexpr double kAda = 2048;
  constexpr double kHopper = 8192;
  constexpr double kNewest = 32768;
  if (major == 8) return minor == 9 ? kAda : kAmpere;
  if (major == 9) return kHopper;
  return kNewest;
}

}  // namespace

DeviceInfo read_cuda_info(const CudaDriver& driver, CUdevice device, int ordinal) {
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver.require(driver.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  DeviceInfo info;
  constexpr std::size_t kLongestName = 256;
  std::array<char, kLongestName> name{};
  driver.require(driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device),
                 "cuDeviceGetName");
  int version = 0;
  driver.require(driver.cuDriverGetVersion(&version), "cuDriverGetVersion");
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.id = "cuda:" + std::to_string(ordinal);
  info.name = name.data();
  info.arch = "sm_" + std::to_string(major) + std::to_string(minor);
  info.time_kind = TimeKind::kMeasured;
  info.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.clock_mhz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000.0;
  info.max_shared_bytes_per_cta = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.max_threads_per_cta = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.peak_tflops = peak_ops_per_clock(major, minor) * info.sm_count * info.clock_mhz * 1e6 / 1e12;
  // Double data rate: two transfers a clock over the whole bus.
  const double memory_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  info.peak_bandwidth_gbs = 2 * memory_khz * 1e3 * bus_bits / 8 / 1e9;
  info.driver =
      "CUDA driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return info;
}

std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device) {
  constexpr std::size_t kLongest = 32;
  std::array<char, kLongest> id{};
  driver.require(driver.cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device),
                 "cuDeviceGetPCIBusId");
  return id.data();
}

CUdevice find_cuda_device(const CudaDriver& driver, int ordinal) {
  const CUresult ready = driver.cuInit(0);
  if (ready != CUDA_SUCCESS) {
    throw MissingError("the CUDA driver finds no usable GPU: " + driver.describe(ready));
  }
  int count = 0;
  driver.require(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count) {
    throw MissingError("there is no device cuda:" + std::to_string(ordinal) +
                       "; this machine has " + std::to_string(count) +
                       " CUDA device(s), numbered from 0");
  }
  CUdevice device = 0;
  driver.require(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  return device;
}

}  // namespace evo
