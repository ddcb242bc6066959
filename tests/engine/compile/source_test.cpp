#include "engine/compile/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SourceTest : public testing::Test {
 protected:
  SourceTest() {
    std::filesystem::create_directories(root() / "common");
    std::filesystem::create_directories(root() / "kernel");
    write_file(root() / "common/types.cuh", "#pragma once\nusing u8 = unsigned char;\n");
    write_file(root() / "kernel/parts.cuh",
               "#pragma once\n#include \"common/types.cuh\"\nconstexpr int kPart = 1;\n");
    write_file(root() / "kernel/k.cu",
               "  #  include \"parts.cuh\"\n#include \"common/types.cuh\"\n"
               "// #include \"none.cuh\"\n__global__ void k() {}\n");
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path() / "root"; }

  sample::TemporaryFolder folder_;
};

TEST_F(SourceTest, FindsHeadersBesideTheFileAndInTheRoot) {
  const KernelSource source = load_source(root() / "kernel/k.cu", root());
  EXPECT_EQ(source.name, "k.cu");
  ASSERT_EQ(source.headers.size(), 2U);
  EXPECT_EQ(source.headers[0].first, "parts.cuh");
  EXPECT_EQ(source.headers[1].first, "common/types.cuh");
}

TEST_F(SourceTest, AngleBracketsFindAFileBesideTheSourceWhereNobodyElseHasIt) {
  write_file(root() / "kernel/own.h", "constexpr int kOwn = 1;\n");
  write_file(root() / "kernel/vector", "not the standard's\n");
  write_file(root() / "kernel/b.cu", "#include <own.h>\n#include <vector>\n#include <none.h>\n");
  const KernelSource source = load_source(root() / "kernel/b.cu", root());
  ASSERT_EQ(source.headers.size(), 2U);
  EXPECT_EQ(source.headers[0].second, "constexpr int kOwn = 1;\n");
  EXPECT_NE(source.headers[1].second, "not the standard's\n");
  EXPECT_EQ(source.outside, std::vector<std::string>{"none.h"});
  std::filesystem::create_directories(root() / "paths");
  write_file(root() / "paths/own.h", "");
  EXPECT_EQ(load_source(root() / "kernel/b.cu", root(), {root() / "paths"}).outside.front(),
            "own.h")
      << "include paths are searched before the folder of the source";
}

/// The text of a source without its preprocessor directives.
std::string code_of(const std::string& text) {
  std::string code;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) code += line + "\n";
  }
  return code;
}

TEST_F(SourceTest, ExpandsIncludesInTheirPlacesWithLineNumbers) {
  write_file(root() / "kernel/op.inc", "x += FACTOR;\n");
  write_file(root() / "kernel/k.cu",
             "#define FACTOR 1\n#include \"op.inc\"\n#undef FACTOR\n#define FACTOR 2\n"
             "  #  include \"op.inc\" // again\nend\n");
  EXPECT_EQ(load_source(root() / "kernel/k.cu", root()).expanded(),
            "#line 1 \"k.cu\"\n#define FACTOR 1\n#line 1 \"op.inc\"\nx += FACTOR;\n"
            "#line 3 \"k.cu\"\n#undef FACTOR\n#define FACTOR 2\n#line 1 \"op.inc\"\nx += FACTOR;\n"
            "#line 6 \"k.cu\"\nend\n");
}

TEST_F(SourceTest, PragmaOnceBecomesAMacro) {
  const std::string text = load_source(root() / "kernel/k.cu", root()).expanded();
  EXPECT_THAT(text, Not(HasSubstr("#pragma once")));
  EXPECT_EQ(code_of(text),
            "using u8 = unsigned char;\nconstexpr int kPart = 1;\n"
            "// #include \"none.cuh\"\n__global__ void k() {}\n");
  const std::size_t guard = text.find("#ifndef EVO_ONCE_");
  const std::string macro = text.substr(guard + 8, text.find('\n', guard) - guard - 8);
  EXPECT_THAT(text, HasSubstr("#define " + macro + "\n"));
}

TEST_F(SourceTest, WhatStandsUnderAConditionIsThereAgain) {
  const std::string header = "using u8 = unsigned char;\n";
  const auto code_for = [&](const std::string& kernel) {
    write_file(root() / "kernel/k.cu", kernel);
    return code_of(load_source(root() / "kernel/k.cu", root()).expanded());
  };
  const std::string include = "#include \"common/types.cuh\"\n";
  EXPECT_EQ(code_for("#if A\n" + include + "#endif\n" + include + include), header + header);
  EXPECT_EQ(code_for("#ifdef A\n#else\n" + include + "#endif\n#ifndef B\n" + include + "#endif\n"),
            header + header);
  EXPECT_EQ(code_for(include + "#if A\n" + include + "#endif\n"), header);
  write_file(root() / "common/types.cuh", "#if A\n#pragma once\n#endif\n" + header);
  EXPECT_EQ(code_for(include + include), header + header);
  write_file(root() / "common/types.cuh", header);
  EXPECT_EQ(code_for(include + include), header + header);
}

TEST_F(SourceTest, HeadersThatIncludeEachOtherEnd) {
  for (const auto& [begin, end] :
       {std::pair("#pragma once\n", ""), std::pair("#ifndef A\n#define A\n", "#endif\n")}) {
    write_file(root() / "kernel/a.cuh", std::string(begin) + "#include \"b.cuh\"\nint a;\n" + end);
    write_file(root() / "kernel/b.cuh", "#pragma once\n#include \"a.cuh\"\nint b;\n");
    write_file(root() / "kernel/k.cu", "#include \"a.cuh\"\n");
    EXPECT_EQ(code_of(load_source(root() / "kernel/k.cu", root()).expanded()), "int b;\nint a;\n");
  }
}

TEST_F(SourceTest, OneThatIncludesItselfWithoutAGuardIsRefused) {
  for (const char* text : {"#include \"a.cuh\"\n", "int a;\n#include \"k.cu\"\n",
                           "#if N\n#pragma once\n#endif\n#include \"a.cuh\"\n"}) {
    write_file(root() / "kernel/a.cuh", text);
    write_file(root() / "kernel/k.cu", "#include \"a.cuh\"\n");
    EXPECT_THROW((void)load_source(root() / "kernel/k.cu", root()).expanded(), InputError) << text;
  }
}

TEST_F(SourceTest, ATextThatGrowsBeyondAllMeasureIsRefused) {
  std::string twice;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "#include \"h" + std::to_string(i + 1) + "\"\n";
    write_file(root() / ("kernel/h" + std::to_string(i)), next + next + "// some text\n");
  }
  write_file(root() / "kernel/h40", "int x;\n");
  EXPECT_THROW((void)load_source(root() / "kernel/h0", root()).expanded(), InputError);
}

TEST_F(SourceTest, ATextThatNoCompilerTakesIsNamed) {
  const auto error_of = [&](const std::string& text) -> std::string {
    write_file(root() / "kernel/odd.cu", text);
    try {
      (void)load_source(root() / "kernel/odd.cu", root());
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  };
  const std::string kernel = "__global__ void k() {}\n";
  EXPECT_THAT(error_of("\xef\xbb\xbf" + kernel),
              AllOf(HasSubstr("odd.cu"), HasSubstr("begins with a byte order mark")));
  EXPECT_THAT(error_of(kernel + '\0' + kernel), HasSubstr("holds a NUL character"));
  EXPECT_EQ(error_of(kernel + "// \xef\xbb\xbf\n"), "read");
}

/// Without include paths, included files outside the root folder of the source are rejected before
/// they are read. Directives whose file name is a macro, empty or incomplete are rejected, too.
TEST_F(SourceTest, NothingOutsideOfTheRootIsRead) {
  write_file(root().parent_path() / "evo_secret_of_source_test", "hunter2\n");
  std::filesystem::create_symlink("/etc/passwd", root() / "kernel/linked.cuh");
  std::filesystem::create_symlink("/dev/zero", root() / "kernel/zero.cuh");
  for (const char* include :
       {"\"/etc/passwd\"", "\"../../evo_secret_of_source_test\"", "\"linked.cuh\"", "\"zero.cuh\"",
        "\"/dev/zero\"", "<../evo_secret_of_source_test>", "MACRO", "\"\"", "\"x"}) {
    write_file(root() / "kernel/k.cu", "\n#include " + std::string(include) + "\n");
    try {
      (void)load_source(root() / "kernel/k.cu", root());
      ADD_FAILURE() << include;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("k.cu:2: #include"), Not(HasSubstr("hunter2"))));
    }
  }
  EXPECT_THROW((void)load_source("/etc/passwd", root()), InputError);
  std::filesystem::remove(root().parent_path() / "evo_secret_of_source_test");
}

TEST_F(SourceTest, TwoFilesUnderOneNameAreRefused) {
  write_file(root() / "common/parts.cuh", "int other;\n");
  write_file(root() / "common/types.cuh", "#include \"parts.cuh\"\n");
  EXPECT_THROW((void)load_source(root() / "kernel/k.cu", root()), InputError);
}

TEST_F(SourceTest, IncludePathsAreTheCompilers) {
  std::filesystem::create_directories(root() / "../include_of_source_test");
  write_file(root() / "../include_of_source_test/toolkit.h", "int toolkit;\n");
  write_file(root() / "kernel/k.cu", "#include \"toolkit.h\"\n#include <toolkit.h>\nint k;\n");
  EXPECT_THROW((void)load_source(root() / "kernel/k.cu", root()), InputError);
  const KernelSource source =
      load_source(root() / "kernel/k.cu", root(), {root() / "../include_of_source_test"});
  EXPECT_TRUE(source.headers.empty());
  EXPECT_THAT(source.expanded(), HasSubstr("#include \"toolkit.h\"\n#include <toolkit.h>\n"));
  std::filesystem::remove_all(root() / "../include_of_source_test");
}

TEST_F(SourceTest, WhatStandardHeadersBringAlongIsThereWhereItIsUsed) {
  std::filesystem::create_directories(root() / "../include_of_source_test/cuda/std");
  for (const char* name : {"limits", "type_traits"}) {
    write_file(root() / "../include_of_source_test/cuda/std" / name, "\n");
  }
  const auto names_of = [&](const std::string& text) {
    write_file(root() / "kernel/k.cu", text);
    std::vector<std::string> names;
    for (const auto& [name, unused] :
         load_source(root() / "kernel/k.cu", root(), {root() / "../include_of_source_test"})
             .headers) {
      names.push_back(name);
    }
    return names;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      names_of("#include <chrono>\n__device__ float m = std::numeric_limits<float>::max();\n"),
      Texts({"chrono", "limits"}));
  EXPECT_EQ(names_of("#include <vector>\nstatic_assert(std::is_same<int, int>::value);\n"),
            Texts({"vector", "type_traits"}));
  EXPECT_EQ(names_of("#include <vector>\n"), Texts({"vector"}));
  EXPECT_EQ(names_of("static_assert(std::is_same<int, int>::value);\n"), Texts());
  std::filesystem::remove_all(root() / "../include_of_source_test");
}

TEST_F(SourceTest, AMissingHeaderIsNamedWithItsIncluder) {
  write_file(root() / "kernel/parts.cuh", "#include \"gone.cuh\"\n");
  try {
    (void)load_source(root() / "kernel/k.cu", root());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("parts.cuh"), HasSubstr("gone.cuh")));
  }
  EXPECT_THROW((void)load_source(root() / "none.cu", root()), InputError);
}

TEST(ShippedTemplates, ExpandWithoutIncludes) {
  const std::filesystem::path root = std::filesystem::path(EVO_SOURCE_DIR) / "kernel_templates";
  const std::string text = load_source(root / "sdpa_fp8/wmma.cu", root).expanded();
  EXPECT_THAT(text, Not(testing::ContainsRegex("(^|\n)[ \t]*#include")));
  EXPECT_THAT(text, HasSubstr("sdpa_fp8_wmma"));
  const std::string once = "struct alignas(16) Chunk {";
  EXPECT_EQ(text.find(once), text.rfind(once));
  EXPECT_NE(text.find(once), std::string::npos);
}

}  // namespace
}  // namespace evo
