#include "tools/cli/help_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/number_options.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Wrapped, BreaksBetweenWordsAndKeepsLines) {
  EXPECT_EQ(wrapped("one two three", 8, 0), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one\ntwo", 80, 0), "one\ntwo");
  EXPECT_EQ(wrapped("a incomprehensible b", 5, 0), "a\nincomprehensible\nb");
  EXPECT_EQ(wrapped("µµµ ≥≥≥", 7, 0), "µµµ ≥≥≥");
}

class HelpText : public testing::Test {
 protected:
  std::string help() {
    use_help_format(app_);
    return app_.help("/usr/bin/evo-some");
  }

  CLI::App app_{"evo-some: does something.\nAnd more."};
  std::string text_;
  std::vector<std::string> texts_;
  std::uint64_t number_ = 7;
  bool flag_ = false;
};

TEST_F(HelpText, NamesOptionsTheirValuesAndWhatIsAllowed) {
  app_.add_option("--jobs", number_, "processes")
      ->transform(whole_number(1, 64))
      ->capture_default_str();
  app_.add_option("--max-in-flight", number_, "candidates (default: --jobs)")
      ->transform(whole_number(1, 64));
  app_.add_option("--run", number_, "a run")->transform(row_number())->required();
  app_.add_option("--resume", number_, "go on")->expected(0, 1);
  app_.add_option("--set", texts_, "macros")->type_name("MACRO=VALUE");
  EXPECT_THAT(help(), HasSubstr("  --jobs N                processes (1 to 64; default: 7)\n"));
  EXPECT_THAT(help(), HasSubstr("  candidates (default: --jobs; 1 to 64)\n"));
  EXPECT_THAT(help(), HasSubstr("  --run N                 a run (required)\n"));
  EXPECT_THAT(help(), HasSubstr("  --resume [N]            go on\n"));
  EXPECT_THAT(help(), HasSubstr("  --set MACRO=VALUE...    macros\n"));
  EXPECT_THAT(help(), HasSubstr("  -h, --help              print this help\n"));
  EXPECT_THAT(help(),
              HasSubstr("evo-some: does something.\nAnd more.\n\nUsage: evo-some [OPTIONS]\n"));
}

TEST_F(HelpText, SaysWhatAnOptionExcludesAndNeeds) {
  CLI::Option* json = app_.add_flag("--json", flag_, "objects");
  app_.add_flag("--quiet", flag_, "nothing")->excludes(json);
  app_.add_flag("--pretty", flag_, "with blanks")->needs(json);
  EXPECT_THAT(help(), HasSubstr("  --quiet                 nothing (not with --json)\n"));
  EXPECT_THAT(help(), HasSubstr("  --pretty                with blanks (only with --json)\n"));
}

TEST_F(HelpText, WrapsLinesBelowTheirOwnText) {
  app_.add_option("--a-name-that-leaves-no-room", text_,
                  std::string(30, 'a') + " " + std::string(30, 'b'));
  app_.footer("\nValues:\n  in:FILE   " + std::string(50, 'c') + " " + std::string(30, 'd'));
  const std::string indent(26, ' ');
  EXPECT_THAT(help(), HasSubstr("  --a-name-that-leaves-no-room TEXT\n" + indent +
                                std::string(30, 'a') + "\n" + indent + std::string(30, 'b')));
  EXPECT_THAT(help(), HasSubstr("  in:FILE   " + std::string(50, 'c') + "\n" +
                                std::string(12, ' ') + std::string(30, 'd')));
}

TEST_F(HelpText, OfACommandSaysWhereItBelongs) {
  app_.footer(exit_codes({{0, "answered"}, {130, "interrupted"}}));
  app_.fallthrough();
  CLI::App* show = app_.add_subcommand("show", "all of one");
  show->add_option("ID", number_, "which one")->required();
  EXPECT_THAT(help(), HasSubstr("\nCommands:\n  show ID                 all of one\n"));
  EXPECT_THAT(help(), HasSubstr("\n\nExit codes:\n  0    answered\n  130  interrupted\n"));
  EXPECT_THAT(help(), Not(HasSubstr("\n\n\n")));
  app_.name("evo-some");
  EXPECT_THAT(show->help("evo-some"),
              HasSubstr("evo-some show: all of one. The options of evo-some are allowed here, "
                        "too.\n"));
}

}  // namespace
}  // namespace evo
