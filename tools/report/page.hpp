#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace evo {

/// Near the beginning of every page: whose it is.
inline constexpr std::string_view kReportMark = R"(<meta name="generator" content="evo-report">)";

/// The page: style, programs, plotting library and `data` in one text that asks nobody for
/// anything. `data` may hold any text; none of it can become a tag or a program.
[[nodiscard]] std::string report_page(const std::string& title, const nlohmann::ordered_json& data);

/// Text between tags or in an attribute.
[[nodiscard]] std::string html_text(const std::string& text);

/// JSON inside a <script> element: without '<', so that no text ends the element or begins a
/// comment.
[[nodiscard]] std::string json_in_script(const nlohmann::ordered_json& data);

}  // namespace evo
