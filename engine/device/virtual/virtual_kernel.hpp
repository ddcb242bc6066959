#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"

namespace evo::ptx {

/// A kernel of a loaded module; a step of a launch plan refers to it.
struct LoadedEntry {
  std::string symbol;
  std::shared_ptr<const Program> program;
  GlobalBuffer* grid_workspace = nullptr;  ///< null unless the kernel is cooperative
  int registers = 0;                       ///< per thread, from the cubin; 0 without a cubin
  std::string cubin = {};                  ///< cubin of the module
  std::uint32_t version_line = 0;          ///< line of `.version` in the PTX

  /// Registers per thread. The number of registers is from the cubin or, without a cubin, estimated
  /// from the registers that are live at the same time in the PTX.
  [[nodiscard]] int registers_at_launch() const;
};

/// A loaded module. The module's variables are in the device's memory until unload_kernel() is
/// called.
struct LoadedKernel {
  std::vector<LoadedEntry> entries;
  std::vector<GlobalBuffer*> variables;
  /// the __constant__ variables that launches set; null for a variable that the module does not
  /// have
  std::vector<GlobalBuffer*> constants;
};

/// Decodes the PTX of `image`, and allocates the module's variables in `memory`. If this function
/// throws PtxError, it has freed the variables.
[[nodiscard]] LoadedKernel load_kernel(const KernelImage& image, GlobalMemory& memory);

void unload_kernel(const LoadedKernel& kernel, GlobalMemory& memory);

}  // namespace evo::ptx
