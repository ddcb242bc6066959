// The CUDA driver, opened at run time. A part of evo_tune.hpp: do not include this file directly.
#ifndef EVO_TUNE_DRIVER_HPP_V3
#define EVO_TUNE_DRIVER_HPP_V3

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "evo_tune_plan.hpp"

// The driver's handles as cuda.h and cuda_runtime.h declare them: a cudaStream_t is a CUstream_st*.
struct CUctx_st;
struct CUfunc_st;
struct CUmod_st;
struct CUstream_st;

namespace evo_tune {
inline namespace v3 {
namespace detail {

/// The fields of a CUlaunchConfig.
struct LaunchConfig {
  std::array<unsigned, 7> size;  ///< grid, block, dynamic shared memory
  CUstream_st* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// The part of the CUDA driver API that a launch needs. The driver library is never closed, because
/// other code may use it.
class Driver {
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol find(const char* name) const {
    void* address = library_ != nullptr ? dlsym(library_, name) : nullptr;
    if (address != nullptr) return {address};
    throw Error(file_ + (library_ != nullptr ? std::string(": has no ") + name
                                             : ": cannot be opened: is a CUDA driver installed?"));
  }
  /// Looks up a function; null if the driver lacks it.
  Symbol find_optional(const char* name) const { return {dlsym(library_, name)}; }
  std::string file_;
  void* library_;  // declared before the functions, which are looked up in the library

 public:
  explicit Driver(const std::string& file)
      : file_(file), library_(dlopen(file.c_str(), RTLD_NOW)) {}
  void check(int result, const std::string& call) const {
    const char* text = nullptr;
    if (result == 0) return;
    if (error_name(result, &text) != 0 || text == nullptr) text = "unknown error";
    throw Error(call + ": " + text);
  }
  [[nodiscard]] Device device() const {
    constexpr int kSmCount = 16, kMajor = 75, kMinor = 76, kSharedOptin = 97;  // CUdevice_attribute
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

  int (*current_context)(CUctx_st**) = find("cuCtxGetCurrent");
  int (*push_context)(CUctx_st*) = find("cuCtxPushCurrent_v2");
  int (*pop_context)(CUctx_st**) = find("cuCtxPopCurrent_v2");
  int (*current_device)(int*) = find("cuCtxGetDevice");
  int (*device_name)(char*, int, int) = find("cuDeviceGetName");
  int (*device_attribute)(int*, int, int) = find("cuDeviceGetAttribute");
  int (*load)(CUmod_st**, const void*) = find("cuModuleLoadData");
  int (*unload)(CUmod_st*) = find("cuModuleUnload");
  int (*get_function)(CUfunc_st**, CUmod_st*, const char*) = find("cuModuleGetFunction");
  int (*set_attribute)(CUfunc_st*, int, int) = find("cuFuncSetAttribute");
  int (*allocate)(std::uint64_t*, std::size_t) = find("cuMemAlloc_v2");
  int (*release)(std::uint64_t) = find("cuMemFree_v2");
  int (*fill)(std::uint64_t, unsigned char, std::size_t, CUstream_st*) = find("cuMemsetD8Async");
  int (*launch)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CUstream_st*, void**, void**) = find("cuLaunchKernel");
  int (*error_name)(int, const char**) = find("cuGetErrorName");
  /// The driver's cuLaunchKernelEx; null if the driver is older than CUDA 11.8.
  int (*launch_with)(const LaunchConfig*, CUfunc_st*, void**,
                     void**) = find_optional("cuLaunchKernelEx");
  /// The driver's cuTensorMapEncodeTiled; null if the driver is older than CUDA 12.0. The arguments
  /// of type int are enumerations of cuda.h.
  int (*encode_map)(void*, int, unsigned, std::uint64_t, const std::uint64_t*, const std::uint64_t*,
                    const unsigned*, const unsigned*, int, int, int,
                    int) = find_optional("cuTensorMapEncodeTiled");
};

/// A CUtensorMap.
struct alignas(64) EncodedMap {
  std::array<unsigned char, 128> bytes;
};

/// Encodes a tensor map of the buffer at `base`.
inline void encode(const Driver& driver, const TensorMap& map, std::uint64_t base,
                   const std::string& what, EncodedMap& to) {
  constexpr int kNoInterleave = 0, kZeros = 0;
  if (driver.encode_map == nullptr) {
    throw Error(what + ": the driver is too old for tensor maps; update it to 525 or newer");
  }
  driver.check(driver.encode_map(to.bytes.data(), map.type, map.rank, base, map.dims.data(),
                                 map.strides.data(), map.box.data(), map.steps.data(),
                                 kNoInterleave, map.swizzle, map.promotion, kZeros),
               what + ": cuTensorMapEncodeTiled");
}

/// Starts one step of a plan; returns the result code of the driver.
inline int launch(const Driver& driver, const Plan::Step& step, CUstream_st* stream,
                  void** parameters, const std::string& folder) {
  const auto& size = step.size;
  if (step.attributes.empty()) {
    return driver.launch(step.function, size[0], size[1], size[2], size[3], size[4], size[5],
                         size[6], stream, parameters, nullptr);
  }
  if (driver.launch_with == nullptr) {
    throw Error(folder + ": " + step.entry +
                ": the driver is too old for launch attributes; update it to 525 or newer");
  }
  const LaunchConfig config{size, stream, step.attributes.data(),
                            static_cast<unsigned>(step.attributes.size())};
  return driver.launch_with(&config, step.function, parameters, nullptr);
}

/// Starts all steps of a plan on a stream of the current context. `buffers`: the caller's buffers.
inline void start(const Driver& driver, const Plan& plan, CUstream_st* stream, void* const* buffers,
                  const std::string& folder) {
  std::array<void*, kMostArguments> pointers;
  std::array<EncodedMap, kMostMaps> maps;  // written only if a step takes tensor maps
  for (const Plan::Step& step : plan.steps) {
    std::size_t encoded = 0;
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      const Plan::Argument& argument = plan.arguments[step.arguments[i]];
      const void* own = argument.value.empty() ? nullptr : argument.value.data();
      if (argument.is_map && encoded < maps.size()) {
        const Plan::Argument& of = plan.arguments[argument.map.of];
        std::uint64_t base = 0;
        const void* given = buffers + of.buffer;
        std::memcpy(&base, of.value.empty() ? given : of.value.data(), sizeof base);
        encode(driver, argument.map, base, folder + ": tensor map " + argument.name, maps[encoded]);
        own = maps[encoded++].bytes.data();
      }
      pointers[i] = const_cast<void*>(own != nullptr ? own : buffers + argument.buffer);
    }
    const int result = launch(driver, step, stream, pointers.data(), folder);
    if (result != 0) driver.check(result, folder + ": " + step.entry + ": cuLaunchKernel");
  }
}

}  // namespace detail
}  // namespace v3
}  // namespace evo_tune

#endif  // EVO_TUNE_DRIVER_HPP_V3
