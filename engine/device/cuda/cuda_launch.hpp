#pragma once

#include <cstdint>
#include <span>

#include "engine/core/launch_config.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// A kernel as the driver launches it.
struct CudaFunction {
  CUfunction function = nullptr;
  bool cooperative = false;  ///< all CTAs must be on the device at once
  /// Bytes of dynamic shared memory that it may be launched with: 48 KiB until more is opted into.
  std::uint32_t most_shared_bytes = 48 * 1024;
};

/// Queues one launch on the stream, also while the stream is captured. `parameters`: where the
/// value of each is. Opts into the shared memory that it asks for.
[[nodiscard]] CUresult queue_launch(const CudaDriver& driver, CudaFunction& kernel, CUstream stream,
                                    const LaunchConfig& config,
                                    std::span<const void* const> parameters);

}  // namespace evo
