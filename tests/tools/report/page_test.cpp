// Tests that no text in a report's data becomes markup or a script of the HTML page, that the page
// loads nothing, and that it contains the licences of the plotting library.

#include "tools/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kAttack = "</script><script>attack()</script><!-- <![CDATA[ ]]> & \" ' \xff";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ReportPage, DataCannotLeaveItsElement) {
  const std::string text = json_in_script({{"name", kAttack}, {kAttack, 1}});
  EXPECT_THAT(text, Not(HasSubstr("<")));
  // The JSON in the page still contains the same texts, except that bytes that are not UTF-8 are
  // replaced.
  const auto back = nlohmann::json::parse(text);
  EXPECT_THAT(back["name"].get<std::string>(), HasSubstr("</script><script>attack()</script><!--"));
  EXPECT_THAT(back["name"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
}

TEST(ReportPage, TheTitleIsText) {
  EXPECT_EQ(html_text("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#39;");
  const std::string page = report_page(kAttack, {});
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;script&gt;attack()"));
}

TEST(ReportPage, HasAsManyElementsWhateverTheData) {
  const std::string plain = report_page("title", {{"runs", "none"}});
  const std::string attacked = report_page(kAttack, {{"runs", kAttack}, {kAttack, kAttack}});
  for (const char* tag : {"<script", "</script", "<!--", "<title", "<style", "</style"}) {
    EXPECT_EQ(count_of(attacked, tag), count_of(plain, tag)) << tag;
  }
}

TEST(ReportPage, LoadsNothing) {
  const std::string page = report_page("title", {});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* loader : {"<script src", "<iframe", "@import", "<link rel=\"stylesheet"}) {
    EXPECT_EQ(page.find(loader), std::string::npos) << loader;
  }
}

TEST(ReportPage, CarriesTheLicenceOfThePlottingLibrary) {
  const std::string page = report_page("title", {});
  EXPECT_THAT(page, AllOf(HasSubstr("Licensed to the Apache Software Foundation"),
                          HasSubstr("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"),
                          HasSubstr("Copyright 2010-2017 Mike Bostock")));
}

}  // namespace
}  // namespace evo
