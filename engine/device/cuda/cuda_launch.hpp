#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "engine/core/launch_config.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// A kernel as the driver launches it.
struct CudaFunction {
  CUfunction function = nullptr;
  bool cooperative = false;  ///< all CTAs must be on the device at once
};

/// The bytes of one parameter.
using ParameterBytes = std::array<std::byte, 8>;

/// Queues one launch on the stream, also while the stream is captured.
[[nodiscard]] CUresult queue_launch(const CudaDriver& driver, const CudaFunction& kernel,
                                    CUstream stream, const LaunchConfig& config,
                                    std::span<ParameterBytes> parameters);

}  // namespace evo
