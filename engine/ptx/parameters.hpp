#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A parameter of a kernel as its PTX declares it.
struct PtxParameter {
  std::string type;  ///< ".u64", ".f32"; ".b8" for a structure
  std::size_t bytes = 0;
};

/// The parameters of kernel `symbol`, in order. Nullopt if `ptx` does not declare the kernel in the
/// form that NVIDIA's compilers write.
[[nodiscard]] std::optional<std::vector<PtxParameter>> parameters_of(std::string_view ptx,
                                                                     std::string_view symbol);

}  // namespace evo
