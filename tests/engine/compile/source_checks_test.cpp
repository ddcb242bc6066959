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

/// The error for a source that changes the macros TILE or MODE, which the space sets; "" if there
/// is no error.
std::string said_of(const std::string& text, const std::string& header = {}) {
  try {
    require_macros_kept({"k.cu", text, {{"part.cuh", header}}}, {"TILE", "MODE"});
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(SourceChecks, ASourceThatSetsATunedMacroIsRefusedByFileLineAndName) {
  EXPECT_THAT(said_of("int a;\n#define TILE 15\n"),
              AllOf(HasSubstr("k.cu:2: #define TILE"), HasSubstr("#ifndef TILE")));
  EXPECT_THAT(said_of("#include \"part.cuh\"", "\n\n  #  undef\tMODE\n"),
              HasSubstr("part.cuh:3: #undef MODE"));
  EXPECT_THAT(said_of("#define TILE(x) x"), HasSubstr("#define TILE"));
  EXPECT_THAT(said_of("%:define TILE 15"), HasSubstr("#define TILE"));
  EXPECT_THAT(said_of("#/* */define /* */ TILE 3"), HasSubstr("k.cu:1"));
  EXPECT_THAT(said_of("#def\\\nine TI\\\r\nLE 3"), HasSubstr("k.cu:1"));
  EXPECT_THAT(said_of("/* a\n b */ #define TILE 3"), HasSubstr("k.cu:2"));
}

TEST(SourceChecks, TextThatLooksLikeACommentHidesNothing) {
  const std::string define = "\n#define TILE 15\n";
  EXPECT_NE(said_of("const char* a = \"/*\";" + define), "");
  EXPECT_NE(said_of("const char* a = \"\\\"/*\";" + define), "");
  EXPECT_NE(said_of("const char a = '\"', b = '\\'';" + define), "");
  EXPECT_NE(said_of("int a = 1'000'000; /* ' */" + define), "");
  EXPECT_NE(said_of("auto a = R\"x(\" /* )\" )x\";" + define), "");
  EXPECT_NE(said_of("// /*" + define), "");
  EXPECT_NE(said_of("/* // */" + define), "");
  EXPECT_NE(said_of("/\\\n/ comment" + define), "")
      << "the two slashes of the comment are on different lines";
}

TEST(SourceChecks, WhatThePreprocessorNeverReachesIsAllowed) {
  EXPECT_EQ(said_of("#ifndef TILE\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#if !defined(TILE)\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#if ! defined TILE && X > 2\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#ifdef TILE\nint a;\n#else\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#ifndef MODE\n#if X\n#define TILE 16\n#endif\n#endif"), "")
      << "the space sets MODE";
  EXPECT_EQ(said_of("#if defined(TILE)\n#elif X\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#if 0\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("// #define TILE 1\n/*\n#define TILE 1\n*/\nint b; // \\\n#define TILE 2"), "");
  EXPECT_EQ(said_of("#define TILES TILE\n#define NEAR_TILE 3\n#undef OTHER"), "");
}

TEST(SourceChecks, WhatItReachesForCertainIsNot) {
  EXPECT_NE(said_of("#ifdef TILE\n#undef TILE\n#endif"), "");
  EXPECT_NE(said_of("#ifndef TILE\n#endif\n#define TILE 16"), "");
  EXPECT_NE(said_of("#ifndef TILE\n#else\n#define TILE 16\n#endif"), "");
  EXPECT_NE(said_of("#ifndef OTHER\n#define TILE 16\n#endif"), "") << "nothing defines OTHER";
  EXPECT_NE(said_of("#if defined(TILE) && !defined(OTHER)\n#define TILE 16\n#endif"), "");
  EXPECT_NE(said_of("#if 0\n#elif defined TILE\n#define TILE 16\n#endif"), "");
}

TEST(SourceChecks, WhatOnlyTheCompilerCanDecideIsLeftToIt) {
  EXPECT_EQ(said_of("#if X\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#if X\n#else\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#if !defined(TILE) || X\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#if TILE == 3\n#define MODE 16\n#endif"), "");
  EXPECT_EQ(said_of("#define OTHER\n#ifndef OTHER\n#define TILE 16\n#endif"), "");
  EXPECT_EQ(said_of("#ifndef __CUDA_ARCH__\n#define TILE 16\n#endif"), "");
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
    EXPECT_THAT(said_of(text, define), HasSubstr("part.cuh:1: #define TILE")) << text;
  }
  for (const std::string& text :
       {"#if 0\n" + include + "#endif", "#ifndef TILE\n" + include + "#endif",
        "#if 1\n#else\n" + include + "#endif", "#if !defined(MODE) && X\n" + include + "#endif",
        "#if X\n" + include + "#endif", "// " + include, std::string()}) {
    EXPECT_EQ(said_of(text, define), "") << text;
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
  EXPECT_THAT(said_of("#include \"part.cuh\"", "#include \"part.cuh\"\n#define TILE 3\n"),
              HasSubstr("part.cuh:2"));
}

TEST(SourceChecks, ArbitraryTextIsRead) {
  for (const std::string text : {"#", "#define", "#if", "#endif\n#else\n#elif", "\"", "'", "R\"(",
                                 "/*", "\\", "#define \\", "R\"", "# \\\n"}) {
    EXPECT_EQ(said_of(text), "") << text;
  }
}

TEST(SourceChecks, MacrosThatNothingReads) {
  const std::vector<std::string> macros = {"A", "B", "C"};
  const auto unread = [&](const std::string& text, const std::string& header = {}) {
    return macros_never_read({"k.cu", text, {{"h.cuh", header}}}, macros);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(unread("int x = A; // B\n/* C */"), (Names{"B", "C"}));
  EXPECT_EQ(unread("int AB = 1;", "#if defined(B) && C"), Names{"A"});
  EXPECT_EQ(unread("#define MAKE(x) x##B"), Names{}) << "## can make the names A and B";
  EXPECT_EQ(unread("/*"), macros);
  EXPECT_EQ(unread("f(\"// A\", B, \"/*\", C);"), Names{})
      << "comment marks inside strings start no comment";
  EXPECT_EQ(unread("_Pragma(\"unroll A\")"), (Names{"B", "C"}));
  EXPECT_EQ(unread("A /* B"), (Names{"B", "C"}));
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
