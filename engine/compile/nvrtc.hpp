#pragma once

#include <memory>

#include "engine/compile/compiler.hpp"

namespace evo {

/// Opens libnvrtc, the first library in nvrtc_libraries() (toolkit.hpp) that can be opened. Throws
/// MissingError with instructions if there is none, or if the library is older than 12.4.
[[nodiscard]] std::unique_ptr<Compiler> open_nvrtc();

}  // namespace evo
