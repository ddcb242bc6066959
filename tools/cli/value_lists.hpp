#pragma once

#include "tools/cli/completion.hpp"

namespace evo {

/// The shipped spaces; and the shapes, milestones and settings of the given space, or of the
/// default space for the given device.
[[nodiscard]] ValueLists space_values();

/// Every device that can run kernels: the GPUs with device files on this machine, the virtual GPUs,
/// "auto" and "none".
[[nodiscard]] ValueList device_values();

/// The words of `first`, followed by the virtual GPUs.
[[nodiscard]] ValueList virtual_device_values(std::vector<std::string> first = {});

}  // namespace evo
