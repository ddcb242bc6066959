#pragma once

#include <filesystem>

#include "engine/core/environment.hpp"

namespace evo {

/// The folder that stands for / where facts of the machine are read from /dev, /proc and /sys: the
/// environment variable EVO_SYSTEM_ROOT, for tests, else / itself.
[[nodiscard]] inline std::filesystem::path system_root() {
  return environment_variable("EVO_SYSTEM_ROOT").value_or("/");
}

}  // namespace evo
