#pragma once

#include <variant>

#include "engine/core/tensor_map.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Encodes the map of a tensor at `base`, or logs and returns the error of the driver.
[[nodiscard]] std::variant<CUtensorMap, CUresult> encode_tensor_map(const CudaDriver& driver,
                                                                    const TensorMapSpec& spec,
                                                                    CUdeviceptr base);

}  // namespace evo
