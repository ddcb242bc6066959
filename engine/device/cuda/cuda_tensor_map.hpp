#pragma once

#include <variant>

#include "engine/core/tensor_map.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Encodes a CUtensorMap for a tensor at `base`. If the driver refuses the map, logs and returns
/// the driver's error.
[[nodiscard]] std::variant<CUtensorMap, CUresult> encode_tensor_map(const CudaDriver& driver,
                                                                    const TensorMapSpec& spec,
                                                                    CUdeviceptr base);

}  // namespace evo
