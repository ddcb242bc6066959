#pragma once

#include "tools/cli/completion.hpp"

namespace evo {

/// The shipped spaces, and the shapes, milestones and settings of the space that is given, else of
/// the default one for the device that is given.
[[nodiscard]] ValueLists space_values();

/// Every device that kernels can run on: the GPUs whose device files are here, and the virtual
/// ones; auto and none.
[[nodiscard]] ValueList device_values();

/// The virtual GPUs, behind the words of `first`.
[[nodiscard]] ValueList virtual_device_values(std::vector<std::string> first = {});

}  // namespace evo
