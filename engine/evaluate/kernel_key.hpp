#pragma once

#include <string>
#include <vector>

#include "engine/compile/entry_symbol.hpp"
#include "engine/core/device_info.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// A key that is equal for candidates with the same kernel. The key covers the code (`ptx_hash` and
/// the launched symbols), and everything else that affects a verdict on `timed` and the shapes
/// checked for them: the steps that run, their launch geometry and parameters, workspaces,
/// tolerances, and determinism. `macros`: the configuration. Throws InputError for an impossible
/// configuration.
[[nodiscard]] std::string kernel_key(const std::string& ptx_hash,
                                     const std::vector<CompiledEntry>& entries,
                                     const Problem& problem, const KernelSpec& kernel,
                                     const std::vector<const Shape*>& timed, const Values& macros,
                                     const DeviceInfo& device);

}  // namespace evo
