#include "engine/cxx/directives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::ElementsAre;

Directive directive_in(const std::string& text) { return directives_of(text).at(0); }

TEST(IncludedName, IsThatOfAFile) {
  for (const char* text : {"#include \"a/b.cuh\"", "#include <a/b.cuh> // why"}) {
    EXPECT_TRUE(includes(directive_in(text)));
    EXPECT_EQ(included_name(directive_in(text)), "a/b.cuh") << text;
  }
  for (const char* text : {"#include", "#include X", "#include \"", "#include \"\"", "#include <>"})
    EXPECT_FALSE(included_name(directive_in(text))) << text;
  EXPECT_FALSE(includes(directive_in("#define include")));
}

TEST(MacroIn, KnowsParametersAndReplacement) {
  const MacroDefinition function = macro_in(directive_in("#define MAX(a, b) ((a) > (b)) // why"));
  EXPECT_EQ(function.name, "MAX");
  EXPECT_TRUE(function.is_function);
  EXPECT_THAT(function.parameters, ElementsAre("a", "b"));
  EXPECT_EQ(function.replacement, "((a) > (b))");
  const MacroDefinition value = macro_in(directive_in("#define SUM (a + \\\n b)"));
  EXPECT_EQ(value.name, "SUM");
  EXPECT_FALSE(value.is_function);
  EXPECT_TRUE(value.parameters.empty());
  EXPECT_EQ(value.replacement, "(a +  b)");
}

TEST(MacroIn, AnyDirectiveIsRead) {
  EXPECT_EQ(macro_in(directive_in("#ifdef A // x")).name, "A");
  EXPECT_EQ(macro_in(directive_in("#define A")).replacement, "");
  for (const char* text : {"#define", "#define 1", "#define (", "#define \"x\"", "#if !A"})
    EXPECT_EQ(macro_in(directive_in(text)).name, "") << text;
  EXPECT_TRUE(macro_in(directive_in("#define A(")).is_function);
  EXPECT_EQ(macro_in(directive_in("#define A(x")).replacement, "");
}

}  // namespace
}  // namespace evo
