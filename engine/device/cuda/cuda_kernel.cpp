#include "engine/device/cuda/cuda_kernel.hpp"

#include <fmt/format.h>

#include "engine/device/cuda/cuda_queue.hpp"
#include "engine/ptx/cooperative.hpp"

namespace evo {

std::variant<CudaKernel, Fault> load_kernel(const CudaDriver& driver, const KernelImage& image) {
  CudaKernel kernel;
  const CUresult result = driver.cuModuleLoadData(&kernel.module, image.cubin.data());
  if (result != CUDA_SUCCESS) return fault_of(driver, result, "the driver cannot load the cubin");
  for (const std::string& symbol : image.entries) {
    CudaEntry& entry = kernel.entries.emplace_back(CudaEntry{symbol, {}, {}});
    const CUresult found =
        driver.cuModuleGetFunction(&entry.function.function, kernel.module, symbol.c_str());
    if (found != CUDA_SUCCESS) {
      driver.cuModuleUnload(kernel.module);
      return fault_of(driver, found, fmt::format("the cubin has no kernel '{}'", symbol));
    }
    auto parameters = parameter_bytes(driver, entry.function.function, image.cubin, symbol);
    if (!parameters) {
      driver.cuModuleUnload(kernel.module);
      return Fault{
          fmt::format("the sizes of the parameters of '{}' are not in its machine code; "
                      "drivers from 550 on report them",
                      symbol)};
    }
    entry.parameter_bytes = *std::move(parameters);
    entry.function.cooperative = is_cooperative(image.ptx, symbol);
  }
  // Sections of the cubin. "const" data lie in their own sections, which only launches fill.
  kernel.has_variables = image.cubin.find(".nv.global") != std::string::npos;
  kernel.constants = find_constants(driver, kernel.module, image.constants);
  return kernel;
}

}  // namespace evo
