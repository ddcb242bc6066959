// The parts of the CUDA driver that a program needs to launch a bundle: a context, memory, a
// stream. The driver is opened at run time, so that the program starts on machines without a
// driver. Programs that use the CUDA runtime or link with libcuda do not need this header.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/loader/evo_tune.hpp"

using Bytes = std::vector<unsigned char>;

inline void* driver_symbol(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* symbol = library != nullptr ? dlsym(library, name) : nullptr;
  if (symbol != nullptr) return symbol;
  throw std::runtime_error(library != nullptr
                               ? std::string("the driver lacks ") + name
                               : "libcuda.so.1 cannot be opened: is an NVIDIA driver installed?");
}

// cuda.h defines macros that rename functions (cuMemAlloc to cuMemAlloc_v2). SYMBOL expands such a
// macro before SYMBOL_NAME makes a string, because dlsym() needs the name of the declared function.
#define SYMBOL_NAME(name) #name
#define SYMBOL(name) SYMBOL_NAME(name)
#define DRIVER(name) (reinterpret_cast<decltype(&(name))>(driver_symbol(SYMBOL(name))))
/// Calls a driver function. If the call fails, throws a std::runtime_error with the names of the
/// function and of the error.
#define CALL(name, ...) check_call(DRIVER(name)(__VA_ARGS__), #name)

inline void check_call(CUresult result, const char* call) {
  const char* text = nullptr;
  if (result == CUDA_SUCCESS) return;
  if (DRIVER(cuGetErrorName)(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown";
  throw std::runtime_error(std::string(call) + ": " + text);
}

/// The primary context of the first GPU, current on this thread.
class Context {
 public:
  Context() {
    CUcontext context = nullptr;
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &device_, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device_);
    CALL(cuCtxSetCurrent, context);
  }
  ~Context() { (void)DRIVER(cuDevicePrimaryCtxRelease)(device_); }
  Context(Context&&) = delete;

 private:
  CUdevice device_ = 0;
};

/// Device memory.
class Buffer {
 public:
  /// Allocates one byte more than `bytes`, because the driver refuses to allocate zero bytes.
  explicit Buffer(std::size_t bytes) : bytes_(bytes) { CALL(cuMemAlloc, &address_, bytes + 1); }
  ~Buffer() {
    if (address_ != 0) (void)DRIVER(cuMemFree)(address_);
  }
  Buffer(Buffer&& other) noexcept
      : address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}
  Buffer& operator=(Buffer&&) = delete;

  [[nodiscard]] void* pointer() const { return reinterpret_cast<void*>(address_); }
  void upload(const Bytes& data) { CALL(cuMemcpyHtoD, address_, data.data(), data.size()); }
  [[nodiscard]] Bytes download() const {
    Bytes data(bytes_);
    CALL(cuMemcpyDtoH, data.data(), address_, bytes_);
    return data;
  }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_;
};

/// A stream that does not wait for the default stream.
class Stream {
 public:
  Stream() { CALL(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING); }
  ~Stream() { (void)DRIVER(cuStreamDestroy)(stream_); }
  Stream(Stream&&) = delete;

  [[nodiscard]] CUstream handle() const { return stream_; }
  void synchronize() const { CALL(cuStreamSynchronize, stream_); }

 private:
  CUstream stream_ = nullptr;
};

/// A cubin on the GPU, for programs that launch it without evo_tune::Bundle.
class Module {
 public:
  explicit Module(const std::string& file) {
    CALL(cuModuleLoadData, &module_, evo_tune::detail::read_file(file).c_str());
  }
  ~Module() { (void)DRIVER(cuModuleUnload)(module_); }
  Module(Module&&) = delete;

  /// Returns a kernel, which may use `shared_bytes` of dynamic shared memory, also above 48 KiB.
  [[nodiscard]] CUfunction function(const std::string& entry, unsigned shared_bytes) const {
    CUfunction function = nullptr;
    CALL(cuModuleGetFunction, &function, module_, entry.c_str());
    CALL(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
         static_cast<int>(shared_bytes));
    return function;
  }

 private:
  CUmodule module_ = nullptr;
};

/// Launches a kernel without waiting for it. `size`: grid (x, y, z), block (x, y, z), and bytes of
/// dynamic shared memory.
inline void launch_kernel(CUfunction function, const std::array<unsigned, 7>& size,
                          void** parameters, CUstream stream) {
  static const auto launch = DRIVER(cuLaunchKernel);
  check_call(launch(function, size[0], size[1], size[2], size[3], size[4], size[5], size[6], stream,
                    parameters, nullptr),
             "cuLaunchKernel");
}
