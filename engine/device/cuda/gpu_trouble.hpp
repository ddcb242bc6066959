#pragma once

#include <cuda.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/driver.hpp"
#include "engine/device/device_files.hpp"

namespace evo {

/// Facts about the machine that explain why a driver call failed.
struct GpuSurroundings {
  NvmlFacts nvml;
  std::vector<DeviceFile> files;
  std::optional<std::string> visible = {};  ///< CUDA_VISIBLE_DEVICES, if it is set
};

/// Collects the facts about this machine and the environment of this process.
[[nodiscard]] GpuSurroundings read_gpu_surroundings();

/// A message for users that explains why the driver could not be initialised. First line: the
/// cause. The second line is "next step: " and the remedy. The third line names alternatives that
/// need no GPU. Nullopt if there is no GPU, or if the driver sees no GPU while CUDA_VISIBLE_DEVICES
/// is set, because this variable may hide all GPUs.
[[nodiscard]] std::optional<std::string> init_trouble(const CudaDriver& driver, CUresult result,
                                                      const GpuSurroundings& around);

/// A message that explains why the driver cannot create a context on `gpu`, in three lines like
/// that of init_trouble().
[[nodiscard]] std::string context_trouble(const CudaDriver& driver, CUresult result,
                                          const CudaGpu& gpu, const GpuSurroundings& around);

}  // namespace evo
