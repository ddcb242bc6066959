#include "engine/device/cuda/driver.hpp"

#include <dlfcn.h>

#include "engine/core/error.hpp"
#include "engine/core/library_path.hpp"

namespace evo {
namespace {

MissingError too_old(const std::string& path, const std::string& function) {
  return MissingError("the CUDA driver is too old: " + path + " has no function " + function +
                      "\nnext step: update the driver to 525 or newer");
}

}  // namespace

CudaDriver CudaDriver::open() {
  // dlclose() is never called, because the driver cannot be unloaded.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw NoGpuError(
        "no CUDA driver (libcuda.so.1) on this machine\nnext step: install the NVIDIA driver, or "
        "choose a virtual device with --device virtual:l4");
  }
  CudaDriver driver;
  driver.path = library_file(library);
// A second macro turns the name into text, so that a name that is itself a macro, such as
// cuMemAlloc, is expanded first.
#define EVO_TEXT(name) #name
#define EVO_LOOK_UP(name) \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, EVO_TEXT(name)));
#define EVO_FIND(name) \
  EVO_LOOK_UP(name)    \
  if (driver.name == nullptr) throw too_old(driver.path, EVO_TEXT(name));
  EVO_CUDA_FUNCTIONS(EVO_FIND)
  EVO_NEWER_CUDA_FUNCTIONS(EVO_LOOK_UP)
#undef EVO_FIND
#undef EVO_LOOK_UP
#undef EVO_TEXT
  // In CUDA 13's cuda.h, cuEventElapsedTime is a macro for cuEventElapsedTime_v2, which drivers
  // before CUDA 12.8 lack.
  for (const char* name : {"cuEventElapsedTime_v2", "cuEventElapsedTime"}) {
    if (driver.cuEventElapsedTime != nullptr) break;
    driver.cuEventElapsedTime =
        reinterpret_cast<decltype(driver.cuEventElapsedTime)>(dlsym(library, name));
  }
  if (driver.cuEventElapsedTime == nullptr) throw too_old(driver.path, "cuEventElapsedTime");
  driver.profiler_start =
      reinterpret_cast<decltype(driver.profiler_start)>(dlsym(library, "cuProfilerStart"));
  driver.profiler_stop =
      reinterpret_cast<decltype(driver.profiler_stop)>(dlsym(library, "cuProfilerStop"));
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
