#include "engine/device/cuda/cuda_launch.hpp"

#include <vector>

namespace evo {

CUresult queue_launch(const CudaDriver& driver, CudaFunction& kernel, CUstream stream,
                      const LaunchConfig& config, std::span<const void* const> parameters) {
  // The kernel's limit of dynamic shared memory is raised but never lowered, because launches with
  // different sizes may be in one graph.
  if (config.dynamic_shared_bytes > kernel.most_shared_bytes) {
    const CUresult result =
        driver.cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(config.dynamic_shared_bytes));
    if (result != CUDA_SUCCESS) return result;
    kernel.most_shared_bytes = config.dynamic_shared_bytes;
  }
  std::vector<void*> pointers;
  // cuLaunchKernel() takes pointers to non-const parameters, but only reads the parameters.
  for (const void* parameter : parameters) pointers.push_back(const_cast<void*>(parameter));
  if (kernel.attributes == LaunchAttributes()) {
    return driver.cuLaunchKernel(kernel.function, config.grid[0], config.grid[1], config.grid[2],
                                 config.block[0], config.block[1], config.block[2],
                                 config.dynamic_shared_bytes, stream, pointers.data(), nullptr);
  }
  std::vector<CUlaunchAttribute> attributes;
  if (kernel.attributes.cooperative) {
    attributes.emplace_back().id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes.back().value.cooperative = 1;
  }
  if (kernel.attributes.programmatic) {
    attributes.emplace_back().id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes.back().value.programmaticStreamSerializationAllowed = 1;
  }
  CUlaunchConfig launch = {};
  launch.gridDimX = config.grid[0];
  launch.gridDimY = config.grid[1];
  launch.gridDimZ = config.grid[2];
  launch.blockDimX = config.block[0];
  launch.blockDimY = config.block[1];
  launch.blockDimZ = config.block[2];
  launch.sharedMemBytes = config.dynamic_shared_bytes;
  launch.hStream = stream;
  launch.attrs = attributes.data();
  launch.numAttrs = static_cast<unsigned>(attributes.size());
  return driver.cuLaunchKernelEx(&launch, kernel.function, pointers.data(), nullptr);
}

}  // namespace evo
