#pragma once

#include <string>

#include "engine/core/device_info.hpp"

namespace evo {

/// Throws MissingError if a GPU's driver cannot load this compiler's machine code, because the
/// compiler belongs to a newer major version of CUDA (within a major version, "CUDA minor version
/// compatibility" applies). `compiler`: as returned by CompileService::version(), "nvrtc 13.0";
/// other names are not checked.
void require_driver_for(const std::string& compiler, const DeviceInfo& device);

}  // namespace evo
