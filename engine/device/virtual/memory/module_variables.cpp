#include "engine/device/virtual/memory/module_variables.hpp"

#include <algorithm>
#include <cstring>

namespace evo::ptx {

ModuleVariables place_variables(const Module& module, GlobalMemory& memory) {
  ModuleVariables placed;
  for (const Variable& variable : module.variables) {
    if (variable.space != Space::kGlobal && variable.space != Space::kConst) continue;
    if (variable.is_extern) continue;
    GlobalBuffer& buffer =
        memory.allocate(variable.name, variable.bytes, variable.space == Space::kGlobal,
                        std::max(variable.align, 16U));
    buffer.is_private = variable.space == Space::kConst;
    buffer.is_kept = true;
    std::memset(buffer.data.get(), 0, variable.bytes);
    if (!variable.initial.empty())
      std::memcpy(buffer.data.get(), variable.initial.data(), variable.initial.size());
    buffer.mark_written(variable.bytes);
    placed.addresses[variable.name] = buffer.base;
    placed.buffers.push_back(&buffer);
  }
  std::size_t index = 0;
  for (const Variable& variable : module.variables) {
    if (!placed.addresses.contains(variable.name)) continue;
    GlobalBuffer& buffer = *placed.buffers[index++];
    for (const auto& [position, name] : variable.references) {
      const auto target = placed.addresses.find(name);
      if (target == placed.addresses.end() || position + 8 > variable.bytes) continue;
      std::memcpy(buffer.data.get() + position, &target->second, 8);
    }
  }
  return placed;
}

}  // namespace evo::ptx
