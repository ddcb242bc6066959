#include "engine/device/cuda/cuda_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/device/cuda/cuda_queue.hpp"
#include "engine/ptx/launch_attributes.hpp"
#include "engine/ptx/variables.hpp"

namespace evo {
namespace {

/// True if launches may change variables of the module. Variables are in the cubin's section
/// .nv.global, but so are constexpr variables, so the function also searches the PTX for variables
/// that a launch may change. __constant__ variables are in another section.
bool has_variables(const KernelImage& image) {
  if (image.cubin.find(".nv.global") == std::string::npos) return false;
  return image.ptx.empty() || std::ranges::any_of(image.entries, [&](const std::string& symbol) {
           return may_keep_variables(image.ptx, symbol);
         });
}

}  // namespace

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
                      "next step: update the driver to 550 or newer, which reports these sizes",
                      symbol)};
    }
    entry.parameter_bytes = *std::move(parameters);
    entry.function.attributes = launch_attributes(image.ptx, symbol);
  }
  kernel.has_variables = has_variables(image);
  kernel.constants = find_constants(driver, kernel.module, image.constants);
  return kernel;
}

}  // namespace evo
