#pragma once

#include <string>
#include <string_view>

#include "engine/compile/source.hpp"

namespace evo {

/// The text that replaces a header which NVRTC lacks or cannot compile: for example types, limits,
/// constants, or names from libcu++ for standard headers of C and C++, the block and warp
/// primitives for cub/cub.cuh, and an empty text for host-only headers. Null if no text replaces
/// the header `name`.
[[nodiscard]] const std::string* stand_in_header(std::string_view name);

/// Whether the text of stand_in_header() takes precedence over a header of this name in an include
/// folder: true for cub/cub.cuh and for host-only headers, which NVRTC cannot compile.
[[nodiscard]] bool replaces_toolkit_header(std::string_view name);

/// Definitions of names that nvcc declares without an include but NVRTC does not, if `source` uses
/// these names without defining them; may be empty.
[[nodiscard]] std::string implied_definitions(const KernelSource& source);

}  // namespace evo
