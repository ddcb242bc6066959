#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace evo {

/// A mark near the beginning of every page, which identifies its program.
inline constexpr std::string_view kReportMark = R"(<meta name="generator" content="evo-report">)";

/// The page: style, programs, plotting library and `data` in one self-contained text. `data` may
/// contain any text; it cannot become a tag or a program.
[[nodiscard]] std::string report_page(const std::string& title, const nlohmann::ordered_json& data);

/// Escapes text between tags or in an attribute.
[[nodiscard]] std::string html_text(const std::string& text);

/// Escapes JSON in a <script> element: writes no '<', so that no text ends the element or begins a
/// comment.
[[nodiscard]] std::string json_in_script(const nlohmann::ordered_json& data);

}  // namespace evo
