#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The sizes in bytes of a kernel's parameters.
[[nodiscard]] std::vector<std::size_t> parameter_bytes(const CudaDriver& driver,
                                                       CUfunction function);

/// Why a kernel with parameters of these sizes cannot take these arguments: the driver itself would
/// read past them. Nothing when it can.
[[nodiscard]] std::optional<Fault> mismatch(std::span<const std::size_t> parameters,
                                            std::span<const KernelArgument> arguments);

}  // namespace evo
