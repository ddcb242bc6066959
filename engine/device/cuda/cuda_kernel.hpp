#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/device/cuda/cuda_arguments.hpp"
#include "engine/device/cuda/cuda_launch.hpp"
#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// A kernel of a loaded module; a step of a launch plan refers to it.
struct CudaEntry {
  std::string symbol;
  CudaFunction function;
  std::vector<std::size_t> parameter_bytes;
};

/// A loaded module. CudaDevice::unload() unloads the module; the destructor does not.
struct CudaKernel {
  CUmodule module = nullptr;
  std::vector<CudaEntry> entries;
  bool has_variables = false;  ///< launches may change variables of the module
  std::vector<CudaConstant> constants;
};

/// Loads the image's cubin. Returns a Fault if the driver rejects the cubin, if the cubin lacks a
/// kernel, or if the sizes of a kernel's parameters are unknown.
[[nodiscard]] std::variant<CudaKernel, Fault> load_kernel(const CudaDriver& driver,
                                                          const KernelImage& image);

}  // namespace evo
