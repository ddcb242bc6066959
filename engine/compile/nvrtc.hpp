#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"

namespace evo {

/// Opens libnvrtc: the file named by the environment variable EVO_NVRTC, else the one the build
/// found or fetched, else the system's. Throws MissingError saying how to get it.
[[nodiscard]] std::unique_ptr<Compiler> open_nvrtc();

}  // namespace evo
