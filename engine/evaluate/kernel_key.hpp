#pragma once

#include <string>
#include <vector>

#include "engine/compile/entry_symbol.hpp"
#include "engine/core/device_info.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// A key that is equal for candidates with the same kernel. The key covers the code (`ptx_hash` and
/// the launched symbols), and everything else that affects the verdict on the timed shapes `timed`
/// and on their checked shapes: the steps that run, their launch geometry and parameters,
/// workspaces, tolerances, whether the results must be deterministic, and whether CTAs are
/// independent (KernelSpec::independent_ctas). `macros`: the configuration. Throws InputError if an
/// expression of the problem has no valid value for this configuration.
[[nodiscard]] std::string kernel_key(const std::string& ptx_hash,
                                     const std::vector<CompiledEntry>& entries,
                                     const Problem& problem, const KernelSpec& kernel,
                                     const std::vector<const Shape*>& timed, const Values& macros,
                                     const DeviceInfo& device);

}  // namespace evo
