#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

/// The report of `ptxas -v` for one kernel.
struct PtxasReport {
  Resources resources;
  /// stack frame of the entry alone; resources.stack_bytes includes the functions that the entry
  /// calls
  int frame_bytes = 0;
};

/// Finds the report on the entry point `entry` in the log of NVRTC or ptxas. A source can print
/// text into the same log (#warning, #pragma message, static_assert, #line). Therefore, each line
/// that contains words of ptxas must have the form and the order in which ptxas prints its lines:
/// a headline that names one of `kernels`, followed by one report. Other lines are ignored. If a
/// line violates this, or if there is no report on `entry`, returns the reason as a string, and
/// the caller rejects the kernel.
[[nodiscard]] std::variant<PtxasReport, std::string> parse_ptxas_log(
    std::string_view log, std::string_view entry, const std::vector<std::string>& kernels);

}  // namespace evo
