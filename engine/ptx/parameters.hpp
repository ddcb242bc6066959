#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A parameter of a kernel as its PTX declares it.
struct PtxParameter {
  std::string type;  ///< ".u64", ".f32"; ".b8" of a structure
  std::size_t bytes = 0;
};

/// Those of kernel `symbol`, in their order. Nothing where the text declares no such kernel, or in
/// another way than the compiler does.
[[nodiscard]] std::optional<std::vector<PtxParameter>> parameters_of(std::string_view ptx,
                                                                     std::string_view symbol);

}  // namespace evo
