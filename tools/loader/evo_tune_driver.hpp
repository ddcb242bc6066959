// Part of evo_tune.hpp: the CUDA driver, opened at run time.
#ifndef EVO_TUNE_DRIVER_HPP_V1
#define EVO_TUNE_DRIVER_HPP_V1

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#include "evo_tune_kernel.hpp"
#include "evo_tune_text.hpp"

// The driver's handles as cuda.h and cuda_runtime.h declare them: a cudaStream_t is a CUstream_st*.
struct CUctx_st;
struct CUfunc_st;
struct CUmod_st;
struct CUstream_st;

namespace evo_tune {
inline namespace v1 {
namespace detail {

/// The part of the driver API that a launch needs.
class Driver {
  void* library_;  // before the functions that are looked up in it; never closed: others use it

  template <typename Function>
  Function* find(const char* symbol) const {
    void* address = dlsym(library_, symbol);
    if (address == nullptr) throw Error(std::string("the CUDA driver has no ") + symbol);
    return reinterpret_cast<Function*>(address);
  }

 public:
  explicit Driver(const std::string& file) : library_(dlopen(file.c_str(), RTLD_NOW)) {
    if (library_ == nullptr) throw Error(file + ": cannot be opened: is a CUDA driver installed?");
    const auto look_up = [&](auto*& function, const char* symbol) {
      function = find<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(symbol);
    };
    look_up(current_context, "cuCtxGetCurrent");
    look_up(push_context, "cuCtxPushCurrent_v2");
    look_up(pop_context, "cuCtxPopCurrent_v2");
    look_up(current_device, "cuCtxGetDevice");
    look_up(device_name, "cuDeviceGetName");
    look_up(device_attribute, "cuDeviceGetAttribute");
    look_up(load_module, "cuModuleLoadData");
    look_up(unload_module, "cuModuleUnload");
    look_up(get_function, "cuModuleGetFunction");
    look_up(set_attribute, "cuFuncSetAttribute");
    look_up(allocate, "cuMemAlloc_v2");
    look_up(release, "cuMemFree_v2");
    look_up(fill, "cuMemsetD8Async");
    look_up(launch, "cuLaunchKernel");
    look_up(error_name, "cuGetErrorName");
  }
  void check(int result, const std::string& call) const {
    if (result == 0) return;
    const char* text = nullptr;
    if (error_name(result, &text) != 0 || text == nullptr) text = "unknown error";
    throw Error(call + ": " + text);
  }
  [[nodiscard]] CUctx_st* context() const {
    CUctx_st* context = nullptr;
    check(current_context(&context), "cuCtxGetCurrent");
    if (context == nullptr) throw Error("no CUDA context is current on this thread");
    return context;
  }
  [[nodiscard]] Device device() const {
    // Numbers of CUdevice_attribute in cuda.h.
    constexpr int kSmCount = 16, kMajor = 75, kMinor = 76, kSharedOptin = 97;
    int number = 0;
    check(current_device(&number), "cuCtxGetDevice");
    const auto attribute = [&](int which) {
      int value = 0;
      check(device_attribute(&value, which, number), "cuDeviceGetAttribute");
      return value;
    };
    std::array<char, 256> name{};
    check(device_name(name.data(), static_cast<int>(name.size()) - 1, number), "cuDeviceGetName");
    return {name.data(), 10 * attribute(kMajor) + attribute(kMinor), attribute(kSmCount),
            attribute(kSharedOptin)};
  }

  int (*current_context)(CUctx_st**);
  int (*push_context)(CUctx_st*);
  int (*pop_context)(CUctx_st**);
  int (*current_device)(int*);
  int (*device_name)(char*, int, int);
  int (*device_attribute)(int*, int, int);
  int (*load_module)(CUmod_st**, const void*);
  int (*unload_module)(CUmod_st*);
  int (*get_function)(CUfunc_st**, CUmod_st*, const char*);
  int (*set_attribute)(CUfunc_st*, int, int);
  int (*allocate)(unsigned long long*, std::size_t);
  int (*release)(unsigned long long);
  int (*fill)(unsigned long long, unsigned char, std::size_t, CUstream_st*);
  int (*launch)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CUstream_st*, void**, void**);
  int (*error_name)(int, const char**);
};

}  // namespace detail
}  // namespace v1
}  // namespace evo_tune

#endif  // EVO_TUNE_DRIVER_HPP_V1
