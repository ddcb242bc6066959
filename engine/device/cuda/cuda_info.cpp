#include "engine/device/cuda/cuda_info.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "engine/core/error.hpp"
#include "engine/device/cuda/gpu_trouble.hpp"

namespace evo {
namespace {

/// Number of dense operations per clock and SM of the fastest matrix unit (2 per multiply-add), for
/// e4m3 or int8 if the unit supports them (CUDA programming guide, NVIDIA architecture
/// whitepapers). For sm_80 to sm_87, returns the rate of sm_80, and for architectures other than
/// sm_8x and sm_90 the highest known rate, so that the roofline bound of a kernel's time may be too
/// low but never too high.
double peak_ops_per_clock(int major, int minor) {
  constexpr double kAmpere = 4096;
  constexpr double kAda = 2048;
  constexpr double kHopper = 8192;
  constexpr double kNewest = 32768;
  if (major == 8) return minor == 9 ? kAda : kAmpere;
  if (major == 9) return kHopper;
  return kNewest;
}

/// A UUID as text, "0a1b2c3d-…", as NVML writes it after "GPU-" or "MIG-".
std::string uuid_text(const CUuuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string read_uuid(const CudaDriver& driver, CUdevice device) {
  CUuuid uuid{};
  driver.require(driver.cuDeviceGetUuid_v2(&uuid, device), "cuDeviceGetUuid");
  return uuid_text(uuid);
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
  // Memory has double data rate: two transfers per clock over the whole bus.
  const double memory_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  info.peak_bandwidth_gbs = 2 * memory_khz * 1e3 * bus_bits / 8 / 1e9;
  info.driver =
      "CUDA driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  info.uuid = (is_slice(info) ? "MIG-" : "GPU-") + read_uuid(driver, device);
  return info;
}

std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device) {
  constexpr std::size_t kLongest = 32;
  std::array<char, kLongest> id{};
  driver.require(driver.cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device),
                 "cuDeviceGetPCIBusId");
  return id.data();
}

CudaGpu read_cuda_gpu(const CudaDriver& driver, CUdevice device, int ordinal) {
  const DeviceInfo info = read_cuda_info(driver, device, ordinal);
  CudaGpu gpu;
  gpu.ordinal = ordinal;
  gpu.name = info.name;
  gpu.arch = info.arch;
  gpu.bus_id = read_pci_bus_id(driver, device);
  gpu.uuid = read_uuid(driver, device);
  std::size_t bytes = 0;
  driver.require(driver.cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  gpu.memory_bytes = bytes;
  int mode = 0;
  driver.require(driver.cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device),
                 "cuDeviceGetAttribute");
  gpu.compute_mode = static_cast<ComputeMode>(mode);
  return gpu;
}

CUcontext retain_context(const CudaDriver& driver, CUdevice device, int ordinal) {
  CUcontext context = nullptr;
  const CUresult result = driver.cuDevicePrimaryCtxRetain(&context, device);
  if (result != CUDA_SUCCESS) {
    const CudaGpu gpu = read_cuda_gpu(driver, device, ordinal);
    throw MissingError(context_trouble(driver, result, gpu, read_gpu_surroundings()));
  }
  driver.require(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  return context;
}

int count_cuda_devices(const CudaDriver& driver) {
  CUresult result = driver.cuInit(0);
  int count = 0;
  if (result == CUDA_SUCCESS) result = driver.cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS && count == 0) result = CUDA_ERROR_NO_DEVICE;
  if (result == CUDA_SUCCESS) return count;
  const GpuSurroundings around = read_gpu_surroundings();
  if (const auto trouble = init_trouble(driver, result, around)) throw MissingError(*trouble);
  const std::string hidden = around.visible
                                 ? fmt::format(" (CUDA_VISIBLE_DEVICES is '{}')", *around.visible)
                                 : std::string();
  throw NoGpuError(fmt::format(
      "the CUDA driver finds no GPU{}: {}\nnext step: choose a virtual device with --device "
      "virtual:l4",
      hidden, driver.describe(result)));
}

CUdevice find_cuda_device(const CudaDriver& driver, int ordinal) {
  const int count = count_cuda_devices(driver);
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
