#include "engine/compile/kept_macros.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::vector<GivenMacro> kGiven = {{"TILE", "5"}, {"FAST", "1"}};

std::string said_of(const std::string& log) {
  return changed_macro_in(log, kGiven, "k.cu").value_or("");
}

TEST(KeptMacros, AreThoseOfTheOptions) {
  EXPECT_EQ(given_macros({"-arch=sm_89", "-DTILE=5", "-DFAST", "-I", "x", "-DEMPTY=", "-DA=b=c"}),
            (std::vector<GivenMacro>{{"TILE", "5"}, {"FAST", "1"}, {"EMPTY", ""}, {"A", "b=c"}}));
  EXPECT_EQ(macro_check({}), "") << "without macros, nothing is added";
}

TEST(KeptMacros, ARedefinitionIsReportedWhereItStands) {
  EXPECT_THAT(said_of("other text\nk.cu(3): warning #47-D: incompatible redefinition of macro "
                      "\"TILE\"\n  #define TILE 4\n"),
              StartsWith("k.cu:3: #define TILE: the configuration sets this macro to 5"));
  EXPECT_THAT(said_of("evo_macro_check(5): warning #47-D: incompatible redefinition of macro "
                      "\"TILE\" (declared at line 2 of inc/u.h)\n"),
              StartsWith("inc/u.h:2: #define TILE"));
  EXPECT_THAT(said_of("evo_macro_check(3): catastrophic error: #error directive: \"evo: undefined "
                      "macro FAST\"\n"),
              StartsWith("k.cu: #undef FAST"));
}

TEST(KeptMacros, OtherMacrosMayBeRedefined) {
  EXPECT_EQ(said_of("k.cu(3): warning #47-D: incompatible redefinition of macro \"TILES\"\n"), "");
  EXPECT_EQ(said_of("k.cu(3): error: #error directive: \"evo: undefined macro TILE\"\n"), "")
      << "this #error comes from the kernel's source";
  EXPECT_EQ(said_of(""), "");
}

}  // namespace
}  // namespace evo
