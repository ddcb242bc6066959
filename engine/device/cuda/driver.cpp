#include "engine/device/cuda/driver.hpp"

#include <dlfcn.h>

#include "engine/core/error.hpp"

namespace evo {

CudaDriver CudaDriver::open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // stays open: a driver never goes
  if (library == nullptr) {
    throw MissingError(
        "no CUDA driver (libcuda.so.1) on this machine; install the NVIDIA driver, or choose a "
        "virtual device with --device virtual:l4");
  }
  CudaDriver driver;
// Two steps, so that macros such as cuMemAlloc are replaced before the name becomes text.
#define EVO_TEXT(name) #name
#define EVO_FIND(name)                                                                   \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, EVO_TEXT(name))); \
  if (driver.name == nullptr) {                                                          \
    throw MissingError("the CUDA driver is too old: it has no " EVO_TEXT(name));         \
  }
  EVO_CUDA_FUNCTIONS(EVO_FIND)
#undef EVO_FIND
  driver.profiler_start =
      reinterpret_cast<decltype(driver.profiler_start)>(dlsym(library, "cuProfilerStart"));
  driver.profiler_stop =
      reinterpret_cast<decltype(driver.profiler_stop)>(dlsym(library, "cuProfilerStop"));
#undef EVO_TEXT
  return driver;
}

std::string CudaDriver::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return std::string(name != nullptr ? name : "unknown error") + " (" +
         (text != nullptr ? text : "code " + std::to_string(result)) + ")";
}

void CudaDriver::require(CUresult result, const char* what) const {
  if (result != CUDA_SUCCESS) throw CudaError(std::string(what) + " failed: " + describe(result));
}

}  // namespace evo
