#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/core/tensor_map.hpp"
#include "engine/core/texture.hpp"
#include "engine/device/device_memory.hpp"

namespace evo {

using KernelId = std::uint32_t;

/// A scalar kernel argument, or a structure: its bytes in the kernel's parameter type.
struct ScalarArgument {
  std::vector<std::byte> bytes;

  template <typename T>
  requires std::is_arithmetic_v<T>
  static ScalarArgument of(T value) {
    ScalarArgument scalar;
    scalar.bytes.resize(sizeof(T));
    std::memcpy(scalar.bytes.data(), &value, sizeof(T));
    return scalar;
  }
};

/// A tensor map, by value as `const __grid_constant__ CUtensorMap`, over the buffer that a launch
/// gives as another argument. The device encodes it for each launch.
struct TensorMapArgument {
  TensorMapSpec spec;   ///< accepted by check_tensor_map() for this buffer
  std::size_t of = 0;   ///< position of the buffer among all arguments of the launch
  BufferId buffer = 0;  ///< that buffer; parameters_of() sets it
};

using KernelArgument = std::variant<BufferId, ScalarArgument, TextureId, TensorMapArgument>;

/// The compiled kernel: PTX for a virtual device, machine code for a real one.
struct KernelImage {
  std::string ptx;
  std::string cubin;
  std::vector<std::string> entries;  ///< symbols of the kernels that a step may run
  /// Symbols of the __constant__ variables that launches set; empty for a variable that the kernel
  /// does not use.
  std::vector<std::string> constants = {};
};

/// Why a __constant__ variable cannot receive an argument.
[[nodiscard]] inline std::string constant_too_small(const std::string& symbol, std::size_t bytes,
                                                    const std::string& argument,
                                                    std::size_t argument_bytes) {
  return "__constant__ " + symbol + " has " + std::to_string(bytes) + " bytes, argument '" +
         argument + "' " + std::to_string(argument_bytes);
}

enum class FaultKind {
  kDefect,   ///< the kernel did something wrong
  kRefused,  ///< this device cannot run the kernel; another device of its architecture may
};

/// Why a kernel could not be loaded or did not run to its end.
struct Fault {
  std::string reason;        ///< one line
  std::string detail = {};   ///< all hazards, one per line
  bool device_lost = false;  ///< the context is lost: the process must be replaced
  FaultKind kind = FaultKind::kDefect;
};

}  // namespace evo
