#pragma once

#include "engine/core/device_info.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// What the driver says of device number `ordinal`, whose handle is `device`. Throws CudaError.
[[nodiscard]] DeviceInfo read_cuda_info(const CudaDriver& driver, CUdevice device, int ordinal);

/// Where the card is, "0000:65:00.0".
[[nodiscard]] std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device);

}  // namespace evo
