#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/core/measurement.hpp"

namespace evo {

/// Finds what `ptxas -v` reported for the entry point, in the log of NVRTC or of the program.
/// Nothing when the log has no complete report for it: callers fail closed.
[[nodiscard]] std::optional<Resources> parse_ptxas_log(std::string_view log,
                                                       std::string_view entry);

/// Registers per thread of a kernel, read from the cubin's ELF: from `.nv.info` (attribute
/// REGCOUNT, 0x2f) and from the upper byte of sh_info of its `.text` section. Nothing when the file
/// has neither or the two disagree.
[[nodiscard]] std::optional<int> cubin_registers(std::string_view cubin, std::string_view entry);

}  // namespace evo
