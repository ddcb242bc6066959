#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// The sizes in bytes of a kernel's parameters. The sizes come from the driver or, if the driver is
/// older than CUDA 12.4 and does not report sizes, from the machine code. Nullopt if the sizes are
/// unknown.
[[nodiscard]] std::optional<std::vector<std::size_t>> parameter_bytes(const CudaDriver& driver,
                                                                      CUfunction function,
                                                                      const std::string& cubin,
                                                                      const std::string& symbol);

/// The reason why a kernel whose parameters have the sizes `parameters` cannot take `arguments`;
/// nullopt if they match. The arguments are checked, because the driver might otherwise read past
/// the end of an argument.
[[nodiscard]] std::optional<Fault> mismatch(std::span<const std::size_t> parameters,
                                            std::span<const KernelArgument> arguments);

/// A __constant__ variable. The member `address` is 0 if the kernel's module does not contain the
/// variable.
struct CudaConstant {
  std::string symbol;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  bool has_value = false;  ///< the source initialises it with a value other than zero
};

/// Looks up the __constant__ variables named `symbols` in a module.
[[nodiscard]] std::vector<CudaConstant> find_constants(const CudaDriver& driver, CUmodule module,
                                                       std::span<const std::string> symbols);

/// A fault if a __constant__ variable is smaller than the buffer whose content it receives; nullopt
/// if it is large enough, or if the module does not contain it.
[[nodiscard]] std::optional<Fault> mismatch(const CudaConstant& constant, const BufferSpec& spec);

}  // namespace evo
