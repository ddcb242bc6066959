#pragma once

#include "engine/core/tensor_map.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// The map of a tensor at `base`. Throws CudaError if the driver refuses it.
[[nodiscard]] CUtensorMap encode_tensor_map(const CudaDriver& driver, const TensorMapSpec& spec,
                                            CUdeviceptr base);

}  // namespace evo
