#include "engine/device/virtual/virtual_kernel.hpp"

#include <algorithm>

#include "engine/cubin/cubin.hpp"
#include "engine/device/virtual/decode/decoder.hpp"
#include "engine/device/virtual/memory/module_variables.hpp"
#include "engine/ptx/parser.hpp"

namespace evo::ptx {
namespace {

/// The size of the workspace of a cooperative launch, in which CTAs count arrivals at grid.sync().
/// The workspace holds its size, the counter, and padding
/// (cooperative_groups/details/driver_abi.h).
constexpr std::uint32_t kGridWorkspaceBytes = 256;

int registers_in(const std::string& cubin, const std::string& symbol) {
  const auto facts = read_cubin(cubin, symbol);
  return facts ? facts->registers : 0;
}

}  // namespace

int LoadedEntry::registers_at_launch() const {
  if (registers > 0) return registers;
  return std::clamp((program->live_registers + 15) / 8 * 8, 16, 255);
}

LoadedKernel load_kernel(const KernelImage& image, GlobalMemory& memory) {
  const Module module = parse_ptx(image.ptx);
  LoadedKernel kernel;
  auto variables = place_variables(module, memory);
  kernel.variables = std::move(variables.buffers);
  try {
    for (const std::string& symbol : image.entries) {
      LoadedEntry& entry = kernel.entries.emplace_back(
          LoadedEntry{symbol, decode_entry(module, symbol, variables.addresses), nullptr,
                      registers_in(image.cubin, symbol), image.cubin,
                      static_cast<std::uint32_t>(module.version_line)});
      if (!entry.program->cooperative) continue;
      entry.grid_workspace = &memory.allocate("grid workspace", kGridWorkspaceBytes, true);
      entry.grid_workspace->is_private = true;
    }
  } catch (...) {
    unload_kernel(kernel, memory);
    throw;
  }
  for (const std::string& symbol : image.constants) {
    const auto named = std::ranges::find(kernel.variables, symbol, &GlobalBuffer::name);
    kernel.constants.push_back(named == kernel.variables.end() ? nullptr : *named);
    const auto declared = std::ranges::find(module.variables, symbol, &Variable::name);
    const bool has_value = declared != module.variables.end() &&
                           (!declared->initial.empty() || !declared->references.empty());
    // If a __constant__ variable has no initial value, its bytes count as not written until a
    // launch sets the variable.
    if (kernel.constants.back() != nullptr && !has_value) kernel.constants.back()->mark_unwritten();
  }
  return kernel;
}

void unload_kernel(const LoadedKernel& kernel, GlobalMemory& memory) {
  for (const GlobalBuffer* variable : kernel.variables) memory.release(*variable);
  for (const LoadedEntry& entry : kernel.entries) {
    if (entry.grid_workspace != nullptr) memory.release(*entry.grid_workspace);
  }
}

}  // namespace evo::ptx
