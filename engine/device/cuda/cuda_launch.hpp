#pragma once

#include <span>

#include "engine/core/launch_config.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// A kernel as the driver launches it.
struct CudaFunction {
  CUfunction function = nullptr;
  bool cooperative = false;  ///< all CTAs must be on the device at once
};

/// Queues one launch on the stream, also while the stream is captured. `parameters`: where the
/// value of each is.
[[nodiscard]] CUresult queue_launch(const CudaDriver& driver, const CudaFunction& kernel,
                                    CUstream stream, const LaunchConfig& config,
                                    std::span<const void* const> parameters);

}  // namespace evo
