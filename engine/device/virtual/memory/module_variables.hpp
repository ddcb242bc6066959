#pragma once

#include <vector>

#include "engine/device/virtual/decode/decoder.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// The `.global` and `.const` variables of a PTX module in device memory.
struct ModuleVariables {
  std::vector<GlobalBuffer*> buffers;
  GlobalAddresses addresses;
};

/// Allocates the variables of `module` in device memory and sets their initial values.
[[nodiscard]] ModuleVariables place_variables(const Module& module, GlobalMemory& memory);

}  // namespace evo::ptx
