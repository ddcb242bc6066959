#pragma once

#include <variant>

#include "engine/core/tensor_map.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// The map of a tensor at `base`, or the error with which the driver refuses it, which is logged.
[[nodiscard]] std::variant<CUtensorMap, CUresult> encode_tensor_map(const CudaDriver& driver,
                                                                    const TensorMapSpec& spec,
                                                                    CUdeviceptr base);

}  // namespace evo
