#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The sizes in bytes of a kernel's parameters: by the driver, or by the machine code where the
/// driver is older than CUDA 12.4 and does not tell. Nothing when neither does.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(const CudaDriver& driver,
                                                                      CUfunction function,
                                                                      const std::string& cubin,
                                                                      const std::string& symbol);

/// Why a kernel with parameters of these sizes cannot take these arguments: the driver itself would
/// read past them. Nothing when it can.
[[nodiscard]] std::optional<Fault> mismatch(std::span<const std::size_t> parameters,
                                            std::span<const KernelArgument> arguments);

/// A __constant__ variable; without an address the kernel lacks it.
struct CudaConstant {
  std::string symbol;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  bool has_value = false;  ///< other than zeros, from the source
};

/// The variables of a module with these symbols.
[[nodiscard]] std::vector<CudaConstant> find_constants(const CudaDriver& driver, CUmodule module,
                                                       std::span<const std::string> symbols);

/// Why a variable does not take the content of a buffer. Nothing when it does.
[[nodiscard]] std::optional<Fault> mismatch(const CudaConstant& constant, const BufferSpec& spec);

}  // namespace evo
