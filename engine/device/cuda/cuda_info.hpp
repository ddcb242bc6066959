#pragma once

#include "engine/core/device_info.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// The GPU with this ordinal, with the driver initialised. Throws MissingError when there is none.
[[nodiscard]] CUdevice find_cuda_device(const CudaDriver& driver, int ordinal);

/// What the driver says of device number `ordinal`, whose handle is `device`. Throws CudaError.
[[nodiscard]] DeviceInfo read_cuda_info(const CudaDriver& driver, CUdevice device, int ordinal);

/// Where the card is, "0000:65:00.0".
[[nodiscard]] std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device);

}  // namespace evo
