#include "tools/report/page.hpp"

#include <fmt/format.h>

#include <map>

#include "tools/report/files.hpp"

namespace evo {
namespace {

// The page is complete in one file; the policy below makes the browser block every request.
constexpr const char* kHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="evo-report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<link rel="icon" href="data:,">
)html";

}  // namespace

std::string html_text(const std::string& text) {
  static const std::map<char, std::string_view> kEntities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string safe;
  for (const char& c : text) {
    const auto entity = kEntities.find(c);
    safe += entity != kEntities.end() ? entity->second : std::string_view(&c, 1);
  }
  return safe;
}

std::string json_in_script(const nlohmann::ordered_json& data) {
  using Json = nlohmann::ordered_json;
  std::string safe;
  for (const char& c : data.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    safe += c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1);
  }
  return safe;
}

std::string report_page(const std::string& title, const nlohmann::ordered_json& data) {
  std::string page = fmt::format("{}<title>{}</title>\n<style>\n{}</style>\n</head>\n", kHead,
                                 html_text(title), report_style());
  page += report_body();
  page += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n",
                      json_in_script(data));
  page += fmt::format("<script type=\"text/plain\" id=\"licence\">{}</script>\n", report_licence());
  for (const std::string_view program : report_programs()) {
    page += "<script>\n";
    page += program;
    page += "</script>\n";
  }
  page += "</body>\n</html>\n";
  return page;
}

}  // namespace evo
