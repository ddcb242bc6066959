#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace evo {

/// A text near the beginning of every page, by which evo-report recognises files that it may
/// replace.
inline constexpr std::string_view kReportMark = R"(<meta name="generator" content="evo-report">)";

/// Returns the HTML page: style, programs, plotting library and `data` in one text. `data` may
/// contain any text, which is escaped so that it cannot become a tag or a script.
[[nodiscard]] std::string report_page(const std::string& title, const nlohmann::ordered_json& data);

/// Escapes text between tags or in an attribute.
[[nodiscard]] std::string html_text(const std::string& text);

/// Escapes JSON in a <script> element: writes no '<', so that no text ends the element or begins a
/// comment.
[[nodiscard]] std::string json_in_script(const nlohmann::ordered_json& data);

}  // namespace evo
