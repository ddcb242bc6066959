#include "engine/compile/source_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The error for the source `text`, which may include `header` as part.cuh. The space sets the
/// macros TILE and MODE, which the source must not change. "" if there is no error.
std::string checks_say(const std::string& text, const std::string& header = {}) {
  try {
    require_macros_kept({"k.cu", text, {{"part.cuh", header}}}, {"TILE", "MODE"});
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(SourceChecks, ASourceThatSetsATunedMacroIsRefusedByFileLineAndName) {
  EXPECT_THAT(checks_say("int a;\n#define TILE 15\n"),
              AllOf(HasSubstr("k.cu:2: #define TILE"), HasSubstr("#ifndef TILE")));
  EXPECT_THAT(checks_say("#include \"part.cuh\"", "\n\n  #  undef\tMODE\n"),
              HasSubstr("part.cuh:3: #undef MODE"));
  EXPECT_THAT(checks_say("#define TILE(x) x"), HasSubstr("#define TILE"));
  EXPECT_THAT(checks_say("%:define TILE 15"), HasSubstr("#define TILE"));
  EXPECT_THAT(checks_say("#/* */define /* */ TILE 3"), HasSubstr("k.cu:1"));
  EXPECT_THAT(checks_say("#def\\\nine TI\\\r\nLE 3"), HasSubstr("k.cu:1"));
  EXPECT_THAT(checks_say("/* a\n b */ #define TILE 3"), HasSubstr("k.cu:2"));
}

TEST(SourceChecks, TextThatLooksLikeACommentHidesNothing) {
  const std::string define = "\n#define TILE 15\n";
  EXPECT_NE(checks_say("const char* a = \"/*\";" + define), "");
  EXPECT_NE(checks_say("const char* a = \"\\\"/*\";" + define), "");
  EXPECT_NE(checks_say("const char a = '\"', b = '\\'';" + define), "");
  EXPECT_NE(checks_say("int a = 1'000'000; /* ' */" + define), "");
  EXPECT_NE(checks_say("auto a = R\"x(\" /* )\" )x\";" + define), "");
  EXPECT_NE(checks_say("// /*" + define), "");
  EXPECT_NE(checks_say("/* // */" + define), "");
  EXPECT_NE(checks_say("/\\\n/ comment" + define), "")
      << "the two slashes of the comment are on different lines";
}

TEST(SourceChecks, WhatThePreprocessorNeverReachesIsAllowed) {
  EXPECT_EQ(checks_say("#ifndef TILE\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#if !defined(TILE)\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#if ! defined TILE && X > 2\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#ifdef TILE\nint a;\n#else\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#ifndef MODE\n#if X\n#define TILE 16\n#endif\n#endif"), "")
      << "the space sets MODE";
  EXPECT_EQ(checks_say("#if defined(TILE)\n#elif X\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#if 0\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("// #define TILE 1\n/*\n#define TILE 1\n*/\nint b; // \\\n#define TILE 2"),
            "");
  EXPECT_EQ(checks_say("#define TILES TILE\n#define NEAR_TILE 3\n#undef OTHER"), "");
}

TEST(SourceChecks, WhatItReachesForCertainIsNot) {
  EXPECT_NE(checks_say("#ifdef TILE\n#undef TILE\n#endif"), "");
  EXPECT_NE(checks_say("#ifndef TILE\n#endif\n#define TILE 16"), "");
  EXPECT_NE(checks_say("#ifndef TILE\n#else\n#define TILE 16\n#endif"), "");
  EXPECT_NE(checks_say("#ifndef OTHER\n#define TILE 16\n#endif"), "") << "nothing defines OTHER";
  EXPECT_NE(checks_say("#if defined(TILE) && !defined(OTHER)\n#define TILE 16\n#endif"), "");
  EXPECT_NE(checks_say("#if 0\n#elif defined TILE\n#define TILE 16\n#endif"), "");
}

TEST(SourceChecks, WhatOnlyTheCompilerCanDecideIsLeftToIt) {
  EXPECT_EQ(checks_say("#if X\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#if X\n#else\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#if !defined(TILE) || X\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#if TILE == 3\n#define MODE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#define OTHER\n#ifndef OTHER\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(checks_say("#ifndef __CUDA_ARCH__\n#define TILE 16\n#endif"), "");
}

TEST(SourceChecks, ASwitchThatAnOptionTurnsOffHidesItsDefaults) {
  const KernelSource source{"k.cu", "#ifndef kernel_tuner\n#define TILE 16\n#endif", {}};
  EXPECT_NO_THROW(require_macros_kept(source, {"TILE"}, {"-Dkernel_tuner=1"}));
  EXPECT_THROW(require_macros_kept(source, {"TILE"}, {"-Dkernel"}), InputError);
}

TEST(SourceChecks, AHeaderCountsWhereItIsIncluded) {
  const std::string define = "#define TILE 15\n";
  const std::string include = "#include \"part.cuh\"\n";
  for (const std::string& text :
       {include, "#ifdef TILE\n" + include + "#endif", "#ifndef OTHER\n" + include + "#endif",
        "#if 0\n#else\n" + include + "#endif", "#if 0\n" + include + "#endif\n" + include,
        std::string("#include <part.cuh>"), std::string("#import \"part.cuh\""),
        std::string("#include_next \"part.cuh\"")}) {
    EXPECT_THAT(checks_say(text, define), HasSubstr("part.cuh:1: #define TILE")) << text;
  }
  for (const std::string& text :
       {"#if 0\n" + include + "#endif", "#ifndef TILE\n" + include + "#endif",
        "#if 1\n#else\n" + include + "#endif", "#if !defined(MODE) && X\n" + include + "#endif",
        "#if X\n" + include + "#endif", "// " + include, std::string()}) {
    EXPECT_EQ(checks_say(text, define), "") << text;
  }
}

TEST(SourceChecks, AHeaderOfADeadHeaderIsDead) {
  const auto said = [](const std::string& first) {
    try {
      require_macros_kept({"k.cu",
                           first + "#include \"a.cuh\"\n#endif\n",
                           {{"a.cuh", "#include \"b.cuh\"\n"}, {"b.cuh", "#undef MODE\n"}}},
                          {"TILE", "MODE"});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(said("#if 0\n"), "");
  EXPECT_THAT(said("#if 1\n"), HasSubstr("b.cuh:1: #undef MODE"));
}

TEST(SourceChecks, HeadersThatIncludeEachOtherAreRead) {
  EXPECT_THAT(checks_say("#include \"part.cuh\"", "#include \"part.cuh\"\n#define TILE 3\n"),
              HasSubstr("part.cuh:2"));
}

TEST(SourceChecks, ArbitraryTextIsRead) {
  for (const std::string text : {"#", "#define", "#if", "#endif\n#else\n#elif", "\"", "'", "R\"(",
                                 "/*", "\\", "#define \\", "R\"", "# \\\n"}) {
    EXPECT_EQ(checks_say(text), "") << text;
  }
}

TEST(SourceChecks, MacrosThatNothingReads) {
  const std::vector<std::string> macros = {"A", "B", "C"};
  const auto unread = [&](const std::string& text, const std::string& header = {}) {
    return macros_never_read({"k.cu", text, {{"h.cuh", header}}}, macros);
  };
  using MacroNames = std::vector<std::string>;
  EXPECT_EQ(unread("int x = A; // B\n/* C */"), (MacroNames{"B", "C"}));
  EXPECT_EQ(unread("int AB = 1;", "#if defined(B) && C"), MacroNames{"A"});
  EXPECT_EQ(unread("#define MAKE(x) x##B"), MacroNames{}) << "## can make any name";
  EXPECT_EQ(unread("/*"), macros);
  EXPECT_EQ(unread("f(\"// A\", B, \"/*\", C);"), MacroNames{})
      << "comment marks inside strings start no comment";
  EXPECT_EQ(unread("_Pragma(\"unroll A\")"), (MacroNames{"B", "C"}));
  EXPECT_EQ(unread("A /* B"), (MacroNames{"B", "C"}));
}

TEST(SourceChecks, TheTreesTemplatesKeepTheirMacros) {
  const std::filesystem::path root = std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates";
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(EVO_SOURCE_DIR) / "search_spaces")) {
    const Json space = read_json_file(entry.path());
    if (!space.contains("template")) continue;
    std::set<std::string> macros;
    for (const Json& parameter : space["parameters"]) macros.insert(parameter["macro"]);
    const auto folder = root / space["problem"].get<std::string>();
    const auto source = folder / (space["template"].get<std::string>() + ".cu");
    EXPECT_NO_THROW(require_macros_kept(load_source(source, root), macros)) << source;
  }
}

}  // namespace
}  // namespace evo
