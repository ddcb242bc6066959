#pragma once

#include "tools/cli/completion.hpp"

namespace evo {

/// For completion: the shipped spaces, and the shapes, milestones and settings of the space of
/// --space, or of the default space for the device of --device.
[[nodiscard]] ValueLists space_values();

/// For completion of --device: the GPUs with device files on this machine, the virtual GPUs, "auto"
/// and "none".
[[nodiscard]] ValueList device_values();

/// `first`, followed by the names of the virtual GPUs.
[[nodiscard]] ValueList virtual_device_values(std::vector<std::string> first = {});

}  // namespace evo
