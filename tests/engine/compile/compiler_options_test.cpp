#include "engine/compile/compiler_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Options = std::vector<std::string>;

Options normalised(const Options& given, const OptionRules& rules = {}) {
  return normalised_options(given, rules);
}

std::string refusal(const Options& given, const OptionRules& rules = {}) {
  try {
    (void)normalised_options(given, rules);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CompilerOptions, EverySpellingIsOne) {
  for (const Options& given : {Options{"-DX=1"}, Options{"-D", "X=1"}, Options{"-D X=1"},
                               Options{"--define-macro=X=1"}, Options{"--define-macro", "X=1"}}) {
    EXPECT_THAT(normalised(given), ElementsAre("-DX=1")) << given[0];
  }
  for (const Options& given : {Options{"--maxrregcount=32"}, Options{"-maxrregcount=32"},
                               Options{"--maxrregcount", "32"}, Options{"-maxrregcount 32"}}) {
    EXPECT_THAT(normalised(given), ElementsAre("--maxrregcount=32")) << given[0];
  }
  for (const Options& given :
       {Options{"--ptxas-options=-O2"}, Options{"-Xptxas", "-O2"}, Options{"-Xptxas=--opt-level=2"},
        Options{"--ptxas-options=-O", "--ptxas-options=2"}, Options{"-Xptxas", "--opt-level 2"}}) {
    EXPECT_THAT(normalised(given), ElementsAre("--ptxas-options=--opt-level=2")) << given[0];
  }
  EXPECT_THAT(normalised({"-use_fast_math", "-lineinfo", "-std=c++20", "-fmad", "false",
                          "-DF(a)=a+1", "-default-device", "-restrict", "-DTEXT=(1 + 1)"}),
              ElementsAre("--use_fast_math", "--generate-line-info", "--std=c++20", "--fmad=false",
                          "-DF(a)=a+1", "--device-as-default-execution-space", "--restrict",
                          "-DTEXT=(1 + 1)"));
  EXPECT_THAT(normalised({"-Xptxas=-v,-dlcm=cg", "-DFLAG"}),
              ElementsAre("--ptxas-options=--def-load-cache=cg", "-DFLAG"));
}

TEST(CompilerOptions, NormalisedOnesStayAsTheyAre) {
  const Options given = {"-DX",
                         "--ftz=true",
                         "--prec-div=false",
                         "--prec-sqrt=true",
                         "--ptxas-options=--register-usage-level=5",
                         "--extra-device-vectorization"};
  EXPECT_EQ(normalised(given), given);
}

/// If an option is not allowed, for example because it reads or writes files, changes the
/// architecture or is unknown, the error names the option and lists the allowed options.
TEST(CompilerOptions, EverythingElseIsRefusedByName) {
  for (const char* option : {"--time=/tmp/x",
                             "--fdevice-time-trace=/tmp/x",
                             "--create-pch=/tmp/x",
                             "--pch-dir=/tmp/x",
                             "--ptxas-options=-o=/tmp/x",
                             "--ptxas-options=--output-file=/tmp/x",
                             "--pre-include=/etc/passwd",
                             "-include=/etc/passwd",
                             "-G",
                             "-dlto",
                             "-rdc=true",
                             "-arch=sm_90",
                             "--gpu-architecture=sm_90",
                             "--minimal",
                             "--split-compile=0",
                             "-w",
                             "",
                             "@/etc/passwd",
                             "--options-file=/x",
                             "-optf=/x",
                             "--no-such-option",
                             "-UX",
                             "--undefine-macro=X",
                             "--ptxas-options=-arch=sm_90",
                             "--ptxas-options=--warn-on-spills",
                             "k.cu",
                             "--diag-suppress=1"}) {
    EXPECT_THAT(refusal({option}),
                AllOf(HasSubstr("\"" + std::string(option) + "\""), HasSubstr("allowed")))
        << option;
  }
  EXPECT_THAT(refusal({"-arch=sm_90"}), HasSubstr("\"arch\""));
  EXPECT_THAT(refusal({"--time=/tmp/x"}), HasSubstr("writes files"));
}

TEST(CompilerOptions, ValuesAreChecked) {
  for (const Options& given : {Options{"--ftz=1"},
                               Options{"--ftz"},
                               Options{"--maxrregcount=0"},
                               Options{"--maxrregcount=x"},
                               Options{"--maxrregcount=32x"},
                               Options{"--std=c++98"},
                               Options{"--use_fast_math=yes"},
                               Options{"-D"},
                               Options{"-D1X"},
                               Options{"-DX Y=2"},
                               Options{"-D=1"},
                               Options{"-DX=1\n#include"},
                               Options{"-DX=1 //"},
                               Options{"-DX=/*"},
                               Options{"-DX=\\"},
                               Options{"-D__CUDA_ARCH__=900"},
                               Options{"-DX=1", "-DX=2"},
                               Options{"-Xptxas=-O4"},
                               Options{"-Xptxas=-dlcm"},
                               Options{"-Xptxas=-dlcm=xx"},
                               Options{"-I"}}) {
    EXPECT_NE(refusal(given), "accepted") << given[0];
  }
}

TEST(CompilerOptions, MacrosOfTheSpaceAndTheProblemAreTaken) {
  const OptionRules rules{.taken_macros = {"TILE", "HEAD_DIM"}};
  for (const char* option : {"-DTILE=1", "-DHEAD_DIM", "-DTILE(x)=x"}) {
    EXPECT_THAT(refusal({option}, rules), HasSubstr("is set by the space or the problem"))
        << option;
  }
  EXPECT_EQ(refusal({"-DTILES=1"}, rules), "accepted");
}

TEST(CompilerOptions, IncludePathsLieWhereTheyMay) {
  const sample::TemporaryFolder folder;
  const std::filesystem::path root = std::filesystem::canonical(folder.path());
  std::filesystem::create_directories(root / "project/include");
  std::filesystem::create_directories(root / "project_of_others");
  std::filesystem::create_directory_symlink("/etc", root / "project/away");
  const OptionRules rules{{}, root / "project", {root / "project"}};
  const std::string expected = "-I" + (root / "project/include").string();
  for (const Options& given : {Options{"-Iinclude"}, Options{"-I", "include"},
                               Options{"--include-path=../project/include"},
                               Options{"-I" + (root / "project/include").string()}}) {
    EXPECT_THAT(normalised(given, rules), ElementsAre(expected)) << given[0];
  }
  for (const char* option : {"-I/etc", "-I..", "-Iaway", "-I../project_of_others", "-I/"}) {
    EXPECT_THAT(refusal({option}, rules), HasSubstr("allowed: folders inside")) << option;
  }
  EXPECT_THAT(refusal({"-Inone"}, rules), HasSubstr("no such folder"));
  EXPECT_THAT(include_folders(normalised({"-DX", "-Iinclude"}, rules)),
              ElementsAre(root / "project/include"));
}

TEST(CompilerOptions, OneTextHoldsThemAll) {
  EXPECT_EQ(join_options(Options{"-DX=1", "--ftz=true"}), "-DX=1 --ftz=true");
  Random random(3);
  const std::string letters = "aX=1 '\\\"\t()$;|&";
  for (int round = 0; round < 300; ++round) {
    Options options(random.below(5));
    for (std::string& option : options) {
      option = "-D";
      for (std::size_t i = random.below(8); i > 0; --i)
        option += letters[random.below(letters.size())];
    }
    EXPECT_EQ(split_options(join_options(options)), options) << join_options(options);
  }
}

}  // namespace
}  // namespace evo
