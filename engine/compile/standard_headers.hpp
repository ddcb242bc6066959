#pragma once

#include <string>
#include <string_view>

#include "engine/compile/source.hpp"

namespace evo {

/// A stand-in for a header that NVRTC lacks: types, limits and constants for C's and C++'s standard
/// headers, and nothing for host-only headers. Null for any other name.
[[nodiscard]] const std::string* stand_in_header(std::string_view name);

/// Whether the stand-in replaces a toolkit header that NVRTC cannot compile because it declares
/// host functions.
[[nodiscard]] bool replaces_toolkit_header(std::string_view name);

/// Definitions of names that nvcc declares without an include and NVRTC does not, if `source` uses
/// and does not define them; may be empty.
[[nodiscard]] std::string implied_definitions(const KernelSource& source);

}  // namespace evo
