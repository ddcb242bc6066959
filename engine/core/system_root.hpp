#pragma once

#include <filesystem>

#include "engine/core/environment.hpp"

namespace evo {

/// The folder that contains /dev, /proc and /sys, from which facts of the machine are read. The
/// folder is /, unless tests set the environment variable EVO_SYSTEM_ROOT.
[[nodiscard]] inline std::filesystem::path system_root() {
  return environment_variable("EVO_SYSTEM_ROOT").value_or("/");
}

}  // namespace evo
