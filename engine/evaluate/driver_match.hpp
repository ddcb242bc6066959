#pragma once

#include <string>

#include "engine/core/device_info.hpp"

namespace evo {

/// Throws MissingError when the driver of a GPU refuses the machine code of this compiler: code of
/// a newer major version of CUDA does not load (within a major version it does, "CUDA minor version
/// compatibility"). `compiler`: as CompileService::version() names it, "nvrtc 13.0"; one of another
/// name is not judged.
void require_driver_for(const std::string& compiler, const DeviceInfo& device);

}  // namespace evo
