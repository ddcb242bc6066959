#pragma once

#include "engine/core/device_info.hpp"
#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// How many GPUs there are, at least one, with the driver initialised. Throws NoCardError when
/// there is none, and MissingError with the next step when there is one that cannot be used.
[[nodiscard]] int count_cuda_devices(const CudaDriver& driver);

/// The GPU with this ordinal, likewise.
[[nodiscard]] CUdevice find_cuda_device(const CudaDriver& driver, int ordinal);

/// What the driver says of device number `ordinal`, whose handle is `device`. Throws CudaError.
[[nodiscard]] DeviceInfo read_cuda_info(const CudaDriver& driver, CUdevice device, int ordinal);

/// Where the card is, "0000:65:00.0".
[[nodiscard]] std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device);

/// The same for a survey; makes no context either. Throws CudaError.
[[nodiscard]] CudaCard read_cuda_card(const CudaDriver& driver, CUdevice device, int ordinal);

/// A context on the card, which is made current. Throws MissingError with the next step.
[[nodiscard]] CUcontext retain_context(const CudaDriver& driver, CUdevice device, int ordinal);

}  // namespace evo
