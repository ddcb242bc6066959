#pragma once

#include <string_view>
#include <vector>

namespace evo {

/// The files of tools/report, as they were built.
[[nodiscard]] std::string_view report_style();
[[nodiscard]] std::string_view report_body();
/// Of the plotting library.
[[nodiscard]] std::string_view report_licence();
/// The plotting library, then the report's own, in the order in which they must run.
[[nodiscard]] std::vector<std::string_view> report_programs();

}  // namespace evo
