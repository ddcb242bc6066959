#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"

namespace evo {

/// Opens the first usable library of nvrtc_libraries() (toolkit.hpp). Throws MissingError with
/// instructions if there is none, or if it is older than CUDA 12.4.
[[nodiscard]] std::unique_ptr<Compiler> open_nvrtc();

}  // namespace evo
