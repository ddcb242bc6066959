#pragma once

#include <string>

#include "engine/core/device_info.hpp"

namespace evo {

/// Throws MissingError if a GPU's driver cannot load the machine code of a compiler from a newer
/// major version of CUDA (within a major version, "CUDA minor version compatibility" applies).
/// `compiler`: the result of CompileService::version(), such as "nvrtc 13.0"; other names are not
/// checked.
void require_driver_for(const std::string& compiler, const DeviceInfo& device);

}  // namespace evo
