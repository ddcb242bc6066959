#pragma once

#include <string>
#include <vector>

#include "engine/compile/entry_symbol.hpp"
#include "engine/core/device_info.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// What makes two candidates one kernel: the code (`ptx_hash`, and the symbols that are launched),
/// and everything that decides a verdict beside it on every shape that is checked when `timed` is
/// timed: the steps that run, their launch geometry and parameters, workspaces, tolerances,
/// determinism. `macros`: the configuration. Throws InputError for what this configuration makes
/// impossible.
[[nodiscard]] std::string kernel_key(const std::string& ptx_hash,
                                     const std::vector<CompiledEntry>& entries,
                                     const Problem& problem, const KernelSpec& kernel,
                                     const std::vector<const Shape*>& timed, const Values& macros,
                                     const DeviceInfo& device);

}  // namespace evo
