#pragma once

#include <string>
#include <string_view>

#include "engine/compile/source.hpp"

namespace evo {

/// What a device compilation needs of a header that NVRTC does not come with: of C's and C++'s
/// standard headers the types, limits and constants, of those for the host alone nothing. Null for
/// any other name.
[[nodiscard]] const std::string* stand_in_header(std::string_view name);

/// Whether the stand-in takes the place of a header of the toolkit that NVRTC cannot read, because
/// it declares functions of the host.
[[nodiscard]] bool replaces_toolkit_header(std::string_view name);

/// Definitions of the names that nvcc knows without an include and NVRTC does not, as far as
/// `source` uses and does not define them; empty when there is none.
[[nodiscard]] std::string implied_definitions(const KernelSource& source);

}  // namespace evo
