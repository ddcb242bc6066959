#include "engine/device/cuda/cuda_arguments.hpp"

#include <string>
#include <variant>

#include "engine/cubin/cubin.hpp"

namespace evo {

std::optional<std::vector<std::size_t>> parameter_bytes(const CudaDriver& driver,
                                                        CUfunction function,
                                                        const std::string& cubin,
                                                        const std::string& symbol) {
  if (driver.cuFuncGetParamInfo == nullptr) return parameter_bytes(cubin, symbol);
  std::vector<std::size_t> sizes;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  while (driver.cuFuncGetParamInfo(function, sizes.size(), &offset, &bytes) == CUDA_SUCCESS) {
    sizes.push_back(bytes);
  }
  return sizes;
}

std::optional<Fault> mismatch(std::span<const std::size_t> parameters,
                              std::span<const KernelArgument> arguments) {
  if (parameters.size() != arguments.size()) {
    return Fault{"the kernel has " + std::to_string(parameters.size()) +
                 " parameters, the launch gives " + std::to_string(arguments.size())};
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto* scalar = std::get_if<ScalarArgument>(&arguments[i]);
    const bool is_map = std::holds_alternative<TensorMapArgument>(arguments[i]);
    const std::size_t bytes = is_map              ? kTensorMapBytes
                              : scalar != nullptr ? scalar->bytes.size()
                                                  : sizeof(CUdeviceptr);
    if (bytes == parameters[i]) continue;
    return Fault{"parameter " + std::to_string(i) + " has " + std::to_string(parameters[i]) +
                 " bytes, the argument " + std::to_string(bytes)};
  }
  return std::nullopt;
}

std::vector<CudaConstant> find_constants(const CudaDriver& driver, CUmodule module,
                                         std::span<const std::string> symbols) {
  std::vector<CudaConstant> constants;
  for (const std::string& symbol : symbols) {
    CudaConstant constant{symbol};
    const bool is_there =
        !symbol.empty() && driver.cuModuleGetGlobal(&constant.address, &constant.bytes, module,
                                                    symbol.c_str()) == CUDA_SUCCESS;
    if (!is_there) constant.address = 0;
    constants.push_back(std::move(constant));
  }
  return constants;
}

std::optional<Fault> mismatch(const CudaConstant& constant, const BufferSpec& spec) {
  if (constant.address == 0 || spec.bytes <= constant.bytes) return std::nullopt;
  return Fault{constant_too_small(constant.symbol, constant.bytes, spec.name, spec.bytes)};
}

}  // namespace evo
