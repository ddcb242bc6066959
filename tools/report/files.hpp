#pragma once

#include <string_view>
#include <vector>

namespace evo {

/// The embedded files of tools/report.
[[nodiscard]] std::string_view report_style();
[[nodiscard]] std::string_view report_body();
/// The licence of the plotting library.
[[nodiscard]] std::string_view report_licence();
/// The plotting library, followed by the report's programs in the order of execution.
[[nodiscard]] std::vector<std::string_view> report_programs();

}  // namespace evo
