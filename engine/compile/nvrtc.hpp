#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"

namespace evo {

/// Opens libnvrtc: the file named by the environment variable EVO_NVRTC, else the library found or
/// fetched at build time, else the system's library. Throws MissingError with instructions if there
/// is no libnvrtc.
[[nodiscard]] std::unique_ptr<Compiler> open_nvrtc();

}  // namespace evo
