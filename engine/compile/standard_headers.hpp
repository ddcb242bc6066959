#pragma once

#include <string>
#include <string_view>

#include "engine/compile/source.hpp"

namespace evo {

/// The text that replaces a header which NVRTC lacks: types, limits and constants for standard
/// headers of C and C++, and an empty text for host-only headers. Null if no text replaces
/// the header `name`.
[[nodiscard]] const std::string* stand_in_header(std::string_view name);

/// Whether stand_in_header() replaces a toolkit header that NVRTC cannot compile because the header
/// declares host functions.
[[nodiscard]] bool replaces_toolkit_header(std::string_view name);

/// Definitions of names that nvcc declares without an include but NVRTC does not, if `source` uses
/// these names without defining them; may be empty.
[[nodiscard]] std::string implied_definitions(const KernelSource& source);

}  // namespace evo
