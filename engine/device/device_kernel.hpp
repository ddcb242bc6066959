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

/// A kernel argument that is a scalar or a structure, as the bytes of the parameter's type.
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

/// A tensor map over a buffer that is another argument of the launch, for a parameter of type
/// `const __grid_constant__ CUtensorMap`. The device encodes the tensor map for each launch.
struct TensorMapArgument {
  TensorMapSpec spec;   ///< checked by check_tensor_map()
  std::size_t of = 0;   ///< position of the buffer among all arguments of the launch
  BufferId buffer = 0;  ///< the buffer; set by parameters_of()
};

using KernelArgument = std::variant<BufferId, ScalarArgument, TextureId, TensorMapArgument>;

/// A compiled kernel: machine code (`cubin`), which a GPU executes and from which a virtual GPU
/// predicts times, and PTX, which a virtual GPU executes.
struct KernelImage {
  std::string ptx;
  std::string cubin;
  std::vector<std::string> entries;  ///< symbols of the kernels that a step may run
  /// Symbols of the __constant__ variables that launches set; the symbol is empty for a variable
  /// that the kernel does not use.
  std::vector<std::string> constants = {};
};

/// The message for a __constant__ variable that is smaller than its argument.
[[nodiscard]] inline std::string constant_too_small(const std::string& symbol, std::size_t bytes,
                                                    const std::string& argument,
                                                    std::size_t argument_bytes) {
  return "__constant__ " + symbol + " has " + std::to_string(bytes) + " bytes, but argument '" +
         argument + "' has " + std::to_string(argument_bytes);
}

enum class FaultKind {
  kDefect,   ///< an error of the kernel
  kRefused,  ///< a limitation of this device; another device may run the kernel
};

/// The reason why a kernel could not be loaded or did not run to its end.
struct Fault {
  std::string reason;        ///< one line
  std::string detail = {};   ///< all hazards that a virtual GPU found, one per line
  bool device_lost = false;  ///< the context is lost, so the process must be replaced
  FaultKind kind = FaultKind::kDefect;
};

}  // namespace evo
