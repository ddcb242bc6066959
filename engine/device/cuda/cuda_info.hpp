#pragma once

#include "engine/core/device_info.hpp"
#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Initialises the driver and returns the number of GPUs, at least one. Throws NoCardError if there
/// is none, and MissingError with the next step if there is one that cannot be used.
[[nodiscard]] int count_cuda_devices(const CudaDriver& driver);

/// Properties of the GPU with this ordinal. Throws like the function above.
[[nodiscard]] CUdevice find_cuda_device(const CudaDriver& driver, int ordinal);

/// Properties of device number `ordinal` with handle `device`, from the driver. Throws CudaError.
[[nodiscard]] DeviceInfo read_cuda_info(const CudaDriver& driver, CUdevice device, int ordinal);

/// The card's PCI bus id, "0000:65:00.0".
[[nodiscard]] std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device);

/// The same for a survey; creates no context either. Throws CudaError.
[[nodiscard]] CudaCard read_cuda_card(const CudaDriver& driver, CUdevice device, int ordinal);

/// Creates a context on the card and makes it current. Throws MissingError with the next step.
[[nodiscard]] CUcontext retain_context(const CudaDriver& driver, CUdevice device, int ordinal);

}  // namespace evo
