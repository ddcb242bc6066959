#pragma once

#include <memory>

#include "engine/device/device.hpp"

namespace evo {

/// Opens the CUDA GPU with this ordinal. Throws MissingError if there is no driver or no GPU with
/// this ordinal, or if the driver cannot create a context.
[[nodiscard]] std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace evo
