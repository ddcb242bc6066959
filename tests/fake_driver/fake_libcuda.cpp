// A fake libcuda.so.1 for the machine that the file EVO_FAKE_MACHINE describes. The library
// supports the calls that create a context, streams and events; functions for memory and kernels
// fail (missing_functions.cpp). The macro EVO_FAKE_CUDA_VERSION is the CUDA version whose functions
// the library has, for example 1200 for CUDA 12.0.

#include <cuda.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/fake_driver/fake_machine.hpp"

namespace {

using evo::fake_driver::Gpu;
using evo::fake_driver::machine;
using evo::fake_driver::Slice;

/// A device that CUDA shows: a GPU or, if MIG is enabled, its first MIG slice, because CUDA shows
/// only one slice of a GPU.
struct Visible {
  const Gpu* gpu = nullptr;
  const Slice* slice = nullptr;

  [[nodiscard]] std::string name() const { return slice != nullptr ? slice->name : gpu->name; }
  [[nodiscard]] std::string uuid() const { return slice != nullptr ? slice->uuid : gpu->uuid; }
  [[nodiscard]] unsigned long long memory_mib() const {
    return slice != nullptr ? slice->memory_mib : gpu->memory_mib;
  }
};

bool are_hidden() {
  const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  return chosen != nullptr && (*chosen == '\0' || std::strcmp(chosen, "-1") == 0);
}

std::vector<Visible> visible_gpus() {
  std::vector<Visible> found;
  if (are_hidden()) return found;
  for (const Gpu& gpu : machine().gpus) {
    if (!gpu.mig.value_or(false)) {
      found.push_back({&gpu});
    } else if (!gpu.slices.empty()) {
      found.push_back({&gpu, &gpu.slices.front()});
    }
  }
  return found;
}

bool initialised = false;
/// The library returns the address of this variable as the handle of every object.
char handle = 0;

template <typename Handle>
CUresult hand_out(Handle* to) {
  *to = reinterpret_cast<Handle>(&handle);
  return CUDA_SUCCESS;
}

const Visible* visible(CUdevice device) {
  static const std::vector<Visible> gpus = visible_gpus();
  const auto at = static_cast<std::size_t>(device);
  return initialised && at < gpus.size() ? &gpus[at] : nullptr;
}

CUresult copy_text(const std::string& text, char* to, int room) {
  std::snprintf(to, static_cast<std::size_t>(room), "%s", text.c_str());
  return CUDA_SUCCESS;
}

struct ErrorText {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr std::array kErrors = {
    ErrorText{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    ErrorText{CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    ErrorText{CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
              "CUDA-capable device(s) is/are busy or unavailable"},
    ErrorText{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    ErrorText{CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
              "OS call failed or operation not supported on this OS"},
    ErrorText{CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    ErrorText{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    ErrorText{CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY",
              "system not yet initialized"},
    ErrorText{CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
              "system has unsupported display driver / cuda driver combination"},
    ErrorText{CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
              "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
              "forward compatibility was attempted on non supported HW"},
    ErrorText{CUDA_ERROR_MPS_CONNECTION_FAILED, "CUDA_ERROR_MPS_CONNECTION_FAILED",
              "MPS client failed to connect to the MPS control daemon or the MPS server"},
    ErrorText{CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"}};

const ErrorText* find_error(CUresult code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

int attribute(const Visible& one, CUdevice_attribute which) {
  // The constants below are values of an L4. Attributes that are not listed are 0.
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return one.gpu->arch / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return one.gpu->arch % 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      return one.gpu->compute_mode;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return one.gpu->sm_count;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return static_cast<int>(one.gpu->most_sm_mhz) * 1000;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 101376;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 50331648;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 6251000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 192;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  evo::fake_driver::misbehave(machine().cuda_does);
  if (machine().cuda_init != 0) return static_cast<CUresult>(machine().cuda_init);
  if (visible_gpus().empty()) return CUDA_ERROR_NO_DEVICE;
  initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = machine().cuda;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
  const ErrorText* error = find_error(code);
  *name = error != nullptr ? error->name : nullptr;
  return error != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  const ErrorText* error = find_error(code);
  *text = error != nullptr ? error->text : nullptr;
  return error != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int* count) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *count = static_cast<int>(visible_gpus().size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (visible(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int room, CUdevice device) {
  const Visible* one = visible(device);
  return one != nullptr ? copy_text(one->name(), name, room) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetPCIBusId(char* id, int room, CUdevice device) {
  const Visible* one = visible(device);
  if (one == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0000:%02x:00.0", one->gpu->bus);
  return copy_text(text.data(), id, room);
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  const Visible* one = visible(device);
  if (one == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::string digits;
  const std::string text = one->uuid();
  for (const char c : text.substr(text.find('-') + 1)) {
    if (c != '-') digits += c;
  }
  for (std::size_t i = 0; i < sizeof uuid->bytes; ++i) {
    uuid->bytes[i] = static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  const Visible* one = visible(device);
  if (one == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = one->memory_mib() << 20;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  const Visible* one = visible(device);
  if (one == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute(*one, which);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const Visible* one = visible(device);
  if (one == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  const int result = one->gpu->context;
  return result == 0 ? hand_out(context) : static_cast<CUresult>(result);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit, std::size_t) { return CUDA_SUCCESS; }
CUresult cuStreamCreate(CUstream* stream, unsigned) { return hand_out(stream); }
CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent* event, unsigned) { return hand_out(event); }
CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }
}
