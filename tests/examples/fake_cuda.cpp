// A fake libcuda.so.1 with one GPU and one kernel, causal attention with head dimension 64, which
// it computes on the CPU. The example programs can thus be tested without a GPU. "Device" memory is
// host memory.
//
// The environment variable FAKE_CUDA_FAULT selects a fault: with "wrong" the kernel ignores
// v_scale, with "nan" it writes one NaN, and with "arch" the GPU has an older architecture.

#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned kHeadDim = 64;
// The number of SMs of an H200, and the most bytes of shared memory for a CTA, from the CUDA C++
// Programming Guide for compute capability 9.0.
constexpr int kSmCount = 132;
constexpr int kMostShared = 232448;

bool fault(const char* name) {
  const char* value = std::getenv("FAKE_CUDA_FAULT");
  return value != nullptr && std::strcmp(value, name) == 0;
}

float from_e4m3(std::uint8_t bits) {
  const int exponent = (bits >> 3) & 15;
  const int mantissa = bits & 7;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(mantissa), -9)
                              : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

template <typename T>
T parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof(T));
  return value;
}

/// Computes causal attention. `parameters` are those of the CUDA kernel: q, k, v, o, lse, q_scale,
/// k_scale, v_scale, softmax_scale, q_len, kv_len, batch_heads, heads_per_kv, scale_per_head,
/// write_lse, queue, partials.
void attention(void** parameters) {
  const auto* q = parameter<const std::uint8_t*>(parameters, 0);
  const auto* k = parameter<const std::uint8_t*>(parameters, 1);
  const auto* v = parameter<const std::uint8_t*>(parameters, 2);
  auto* o = parameter<_Float16*>(parameters, 3);
  const auto* q_scale = parameter<const float*>(parameters, 5);
  const auto* k_scale = parameter<const float*>(parameters, 6);
  const auto* v_scale = parameter<const float*>(parameters, 7);
  const auto count = [&](int index) {
    return static_cast<std::size_t>(parameter<std::int32_t>(parameters, index));
  };
  const std::size_t queries = count(9);
  const std::size_t keys = count(10);
  for (std::size_t row = 0; row < count(11) * queries; ++row) {
    const std::size_t head = row / queries;
    const std::size_t kv_head = head / count(12);
    const std::size_t first = kv_head * keys * kHeadDim;
    const float scale =
        parameter<float>(parameters, 8) * q_scale[head * count(13)] * k_scale[kv_head * count(13)];
    const float value_scale = fault("wrong") ? 1.0F : v_scale[kv_head * count(13)];
    float sum = 0;
    std::vector<float> out(kHeadDim);
    for (std::size_t key = 0; key < std::min(keys, row % queries + 1); ++key) {
      float dot = 0;
      for (std::size_t d = 0; d < kHeadDim; ++d) {
        dot += from_e4m3(q[row * kHeadDim + d]) * from_e4m3(k[first + key * kHeadDim + d]);
      }
      const float weight = std::exp(dot * scale - 8);
      sum += weight;
      for (std::size_t d = 0; d < kHeadDim; ++d) {
        out[d] += weight * from_e4m3(v[first + key * kHeadDim + d]);
      }
    }
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      o[row * kHeadDim + d] = static_cast<_Float16>(out[d] / sum * value_scale);
    }
  }
  if (fault("nan")) o[0] = static_cast<_Float16>(std::nanf(""));
}

/// The functions below return the address of this variable as the handle of every context, stream
/// and other object.
char handle;

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  const bool major = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
  *value = major ? (fault("arch") ? 8 : 9) : 0;
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *value = kSmCount;
  if (attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) *value = kMostShared;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&handle);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) { return cuDevicePrimaryCtxRetain(context, 0); }
CUresult cuCtxPushCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext*) { return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "NVIDIA H200", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(&handle);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream) {
  std::memset(reinterpret_cast<void*>(address), value, bytes);
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  constexpr size_t kAlignment = 256;  // as in the driver
  *address = reinterpret_cast<CUdeviceptr>(
      std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment));
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, size_t bytes) {
  std::memset(reinterpret_cast<void*>(address), value, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr target, const void* source, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* target, CUdeviceptr source, size_t bytes) {
  std::memcpy(target, reinterpret_cast<void*>(source), bytes);
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  *module = reinterpret_cast<CUmodule>(&handle);
  return std::memcmp(image,
                     "\x7f"
                     "ELF",
                     4) == 0
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_IMAGE;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = reinterpret_cast<CUfunction>(&handle);
  return std::strcmp(name, "sdpa_fp8") == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int bytes) {
  return bytes <= kMostShared ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuLaunchKernel(CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned, CUstream,
                        void** parameters, void**) {
  // The test's manifest launches CTAs of 128 threads, each for 16 queries; the grid has one row for
  // each head.
  constexpr int kTile = 16;
  const auto queries = parameter<std::int32_t>(parameters, 9);
  const auto heads = parameter<std::int32_t>(parameters, 11);
  const bool right = grid_x == static_cast<unsigned>((queries + kTile - 1) / kTile) &&
                     grid_y == static_cast<unsigned>(heads) && grid_z == 1 && block_x == 128 &&
                     block_y == 1 && block_z == 1;
  if (!right) return CUDA_ERROR_INVALID_VALUE;
  attention(parameters);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}

}  // extern "C"
