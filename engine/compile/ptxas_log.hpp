#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

/// What `ptxas -v` reported for one kernel.
struct PtxasReport {
  Resources resources;
  int frame_bytes = 0;  ///< of the entry alone; resources.stack_bytes counts what it calls, too
};

/// Finds the report for the entry point in the log of NVRTC or of the program. A source can print
/// text into the same log (#warning, #pragma message, static_assert, #line), so the log is believed
/// only when it holds nothing that ptxas would not have printed: one headline for each kernel of
/// `kernels`, one report behind each. Otherwise the text says what is wrong: callers fail closed.
[[nodiscard]] std::variant<PtxasReport, std::string> parse_ptxas_log(
    std::string_view log, std::string_view entry, const std::vector<std::string>& kernels);

}  // namespace evo
