#pragma once

#include <cstdint>
#include <span>

#include "engine/core/launch_config.hpp"
#include "engine/device/cuda/driver.hpp"
#include "engine/ptx/launch_attributes.hpp"

namespace evo {

/// A kernel, prepared for launches by the driver.
struct CudaFunction {
  CUfunction function = nullptr;
  LaunchAttributes attributes = {};
  /// Limit of a launch's dynamic shared memory in bytes: 48 KiB, unless queue_launch() raises it.
  std::uint32_t most_shared_bytes = 48 * 1024;
};

/// Queues one launch on the stream; also works during stream capture. `parameters`: addresses of
/// the parameters' values. Raises the kernel's limit of dynamic shared memory if the launch needs
/// more.
[[nodiscard]] CUresult queue_launch(const CudaDriver& driver, CudaFunction& kernel, CUstream stream,
                                    const LaunchConfig& config,
                                    std::span<const void* const> parameters);

}  // namespace evo
