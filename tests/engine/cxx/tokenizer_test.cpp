#include "engine/cxx/tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/random.hpp"

namespace evo {
namespace {

using testing::ElementsAre;

std::vector<std::string> found(std::string_view text) {
  std::vector<std::string> list;
  for (const Directive& directive : directives_of(text)) {
    list.push_back(std::to_string(directive.line) + " " + directive.name + " " +
                   directive.argument);
  }
  return list;
}

TEST(Directives, AreFoundAsACompilerFindsThem) {
  EXPECT_THAT(found("#include \"a\"\n"), ElementsAre("1 include \"a\""));
  EXPECT_THAT(found("x\n  #  include \"a\" // why\n"), ElementsAre("2 include \"a\""));
  EXPECT_THAT(found("/* x */ # /* y */ include /* z */ \"a\"\n"), ElementsAre("1 include \"a\""));
  EXPECT_THAT(found("/* x\n */ #include \"a\""), ElementsAre("2 include \"a\""));
  EXPECT_THAT(found("#inc\\\nlude \\\n \"a\"\n#define X"),
              ElementsAre("1 include \"a\"", "4 define X"));
  EXPECT_THAT(found("%:include \"a\"\n"), ElementsAre("1 include \"a\""));
  EXPECT_THAT(found("#include \"a//b/*c\"\n"), ElementsAre("1 include \"a//b/*c\""));
  EXPECT_THAT(found("int x = 1'000'000;\n#include \"a\"\n"), ElementsAre("2 include \"a\""));
  EXPECT_THAT(found("#error don't\n#include \"a\"\n"),
              ElementsAre("1 error don't", "2 include \"a\""));
  EXPECT_THAT(found("\"text\\\n#no\"\r\n#include \"a\"\r\n"), ElementsAre("3 include \"a\""));
}

TEST(Directives, AreNotInCommentsAndStrings) {
  EXPECT_THAT(found("// #include \"a\"\n"), ElementsAre());
  EXPECT_THAT(found("// x \\\n#include \"a\"\n"), ElementsAre());
  EXPECT_THAT(found("/*\n#include \"a\"\n*/\n"), ElementsAre());
  EXPECT_THAT(found("x = R\"(\n#include \"a\"\n)\";\n"), ElementsAre());
  EXPECT_THAT(found("x = u8R\"mark( )\"\n#include \"a\"\n)mark\";\n#if 1\n"),
              ElementsAre("4 if 1"));
  EXPECT_THAT(found("x = \"/*\";\n#include \"a\"\n"), ElementsAre("2 include \"a\""));
  EXPECT_THAT(found("x = '\"';\n#include \"a\"\n"), ElementsAre("2 include \"a\""));
  EXPECT_THAT(found("x #include \"a\"\n"), ElementsAre());
}

TEST(Directives, KnowTheirPlace) {
  const std::string text = "a\n  #include \\\n \"x\"\nb\n";
  const auto list = directives_of(text);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(text.substr(0, list[0].begin), "a\n");
  EXPECT_EQ(text.substr(list[0].end), "b\n");
  EXPECT_EQ(list[0].line, 2U);
  EXPECT_EQ(list[0].lines, 2U);
}

TEST(Directives, AnyTextHasThemInOrderAndInside) {
  Random random(11);
  const std::string letters = "#/*\\\n\"'R( )ax%:1\r";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = random.below(40); i > 0; --i)
      text += letters[random.below(letters.size())];
    const CppText cpp = tokenize(text);
    std::size_t before = 0;
    for (const Directive& directive : cpp.directives) {
      ASSERT_LE(before, directive.begin) << text;
      ASSERT_LT(directive.begin, directive.end) << text;
      ASSERT_LE(directive.end, text.size()) << text;
      ASSERT_GE(directive.lines, 1U) << text;
      before = directive.end;
    }
    ASSERT_EQ(directives_of(text).size(), cpp.directives.size()) << text;
    before = 0;
    for (const CppWord& word : cpp.words) {
      ASSERT_LE(before, word.begin) << text;
      ASSERT_LT(word.begin, word.end) << text;
      ASSERT_LE(word.end, text.size()) << text;
      before = word.end;
    }
  }
}

TEST(CppWords, AreNamesNumbersLiteralsAndSigns) {
  EXPECT_THAT(cpp_words("a::b<2>(x_1, 1'000u);"),
              ElementsAre("a", "::", "b", "<", "2", ">", "(", "x_1", ",", "1'000u", ")", ";"));
  EXPECT_THAT(cpp_words("f(\"a // b\", '\\'', R\"x(\" )\" )x\")"),
              ElementsAre("f", "(", "\"a // b\"", ",", "'\\''", ",", "R\"x(\" )\" )x\"", ")"));
}

TEST(CppWords, LeaveOutCommentsAndDirectives) {
  EXPECT_THAT(cpp_words("a // b\nc /* d\n */ e\n#define F \\\n g\nh"),
              ElementsAre("a", "c", "e", "h"));
  EXPECT_THAT(cpp_words("a = \"/*\"; b // c \\\n d\ne"),
              ElementsAre("a", "=", "\"/*\"", ";", "b", "e"));
}

TEST(CppWords, GoOnBehindASplicedLine) {
  const std::string text = "lo\\\nng x;\\\n\ny";
  const CppText cpp = tokenize(text);
  ASSERT_EQ(cpp.words.size(), 4U);
  EXPECT_EQ(cpp.words[0].text, "long");
  EXPECT_EQ(text.substr(cpp.words[0].begin, cpp.words[0].end - cpp.words[0].begin), "lo\\\nng");
  EXPECT_EQ(text.substr(cpp.words[2].begin, cpp.words[2].end - cpp.words[2].begin), ";");
  EXPECT_EQ(cpp.words[3].text, "y");
}

}  // namespace
}  // namespace evo
