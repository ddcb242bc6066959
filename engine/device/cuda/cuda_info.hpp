#pragma once

#include "engine/core/device_info.hpp"
#include "engine/core/machine_facts.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Initialises the driver and returns the number of GPUs, at least one. Throws NoGpuError if there
/// is no GPU or CUDA_VISIBLE_DEVICES hides all GPUs. Throws MissingError, whose message names the
/// next step for the user, if a GPU exists but cannot be used.
[[nodiscard]] int count_cuda_devices(const CudaDriver& driver);

/// The handle of the GPU with this ordinal. Throws like count_cuda_devices(), and MissingError if
/// there is no GPU with this ordinal.
[[nodiscard]] CUdevice find_cuda_device(const CudaDriver& driver, int ordinal);

/// Properties of device number `ordinal` with handle `device`, as the driver reports them. Throws
/// CudaError.
[[nodiscard]] DeviceInfo read_cuda_info(const CudaDriver& driver, CUdevice device, int ordinal);

/// The GPU's PCI bus id, such as "0000:65:00.0".
[[nodiscard]] std::string read_pci_bus_id(const CudaDriver& driver, CUdevice device);

/// Facts about a GPU for the report of `evo-tune doctor`. Creates no context. Throws CudaError.
[[nodiscard]] CudaGpu read_cuda_gpu(const CudaDriver& driver, CUdevice device, int ordinal);

/// Retains the GPU's primary context and makes it current. Throws MissingError, whose message names
/// the next step for the user, if the driver cannot create the context.
[[nodiscard]] CUcontext retain_context(const CudaDriver& driver, CUdevice device, int ordinal);

}  // namespace evo
