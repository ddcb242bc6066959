#pragma once

#include <filesystem>

#include "engine/core/environment.hpp"

namespace evo {

/// The folder below which /dev, /proc and /sys are read for facts of the machine: the environment
/// variable EVO_SYSTEM_ROOT, which tests set, or / by default.
[[nodiscard]] inline std::filesystem::path system_root() {
  return environment_variable("EVO_SYSTEM_ROOT").value_or("/");
}

}  // namespace evo
