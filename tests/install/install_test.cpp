// The installed programs, in a prefix of their own and without anything of this environment.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Installed : public testing::Test {
 protected:
  /// Runs in an empty folder; standard output and error are output().
  int shell(const std::string& command) {
    fs::create_directories(folder_.path() / "work");
    const std::string line = "cd " + (folder_.path() / "work").string() + " && { " + command +
                             "; } >" + (folder_.path() / "output").string() + " 2>&1";
    return std::system(line.c_str());
  }
  /// The same by an installed program, which knows this machine's CUDA Toolkit alone.
  int run(const std::string& command, const std::string& variables = {}) {
    return shell("env -i PATH=/usr/bin:/bin ${EVO_NVRTC:+EVO_NVRTC=$EVO_NVRTC} " +
                 std::string("${CUDA_HOME:+CUDA_HOME=$CUDA_HOME} ") + variables + " " + prefix() +
                 "/bin/" + command);
  }
  [[nodiscard]] std::string output() const { return read_text_file(folder_.path() / "output"); }
  [[nodiscard]] std::string prefix() const { return (folder_.path() / prefix_).string(); }
  void install() {
    ASSERT_EQ(shell(EVO_CMAKE " --install " EVO_BUILD_DIR " --prefix " + prefix()), 0) << output();
  }

  sample::TemporaryFolder folder_;
  std::string prefix_ = "prefix";
};

TEST_F(Installed, TunesAndJudgesTheInstalledSpaceWithoutAGpu) {
  install();
  // Nothing knows where it was installed to.
  fs::rename(folder_.path() / "prefix", folder_.path() / "moved");
  prefix_ = "moved";
  EXPECT_EQ(run("evo-tune --device none --space row_softmax_l4 --generations 1 --children 1"), 0)
      << output();
  EXPECT_THAT(output(), HasSubstr("run 1: row_softmax_l4"));
  EXPECT_TRUE(fs::exists(folder_.path() / "work/evo.db"));
  EXPECT_EQ(run("evo-judge --device virtual:l4 --space row_softmax_l4 --shape single --jobs 1"), 0)
      << output();
  EXPECT_THAT(output(), HasSubstr("GREEN"));
  EXPECT_NE(run("evo-judge --device none --space absent"), 0);
  EXPECT_THAT(output(), HasSubstr("absent"));
  EXPECT_NE(run("evo-judge --device none", "EVO_TUNE_DATA=/nowhere"), 0);
  EXPECT_THAT(output(), HasSubstr("EVO_TUNE_DATA=/nowhere: there is no search_spaces"));
  EXPECT_EQ(run("evo-judge --device none --space row_softmax_h200 --jobs 1",
                "EVO_TUNE_DATA=" + prefix() + "/share/evo-tune"),
            0)
      << output();
}

TEST_F(Installed, NothingPointsIntoTheSourceTree) {
  install();
#if !defined(__SANITIZE_ADDRESS__)  // reports name the lines they are about
  EXPECT_NE(shell("grep -rlF " EVO_SOURCE_DIR "/ " + prefix()), 0) << output();
#endif
  EXPECT_EQ(shell("bash -c '. " + prefix() +
                  "/share/bash-completion/completions/evo-export; COMP_WORDS=(" + prefix() +
                  "/bin/evo-export --bun); COMP_CWORD=1; _evo_tune; echo ${COMPREPLY[@]}'"),
            0);
  EXPECT_EQ(output(), "--bundle\n");
  const std::string page = read_text_file(fs::path(prefix()) / "share/man/man1/evo-tune.1");
  EXPECT_THAT(page, AllOf(HasSubstr(".TH EVO-TUNE 1"), HasSubstr("\\-\\-generations")));
}

TEST_F(Installed, TheLoaderIsACMakePackage) {
  install();
  write_file(folder_.path() / "work/CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES CXX)\n"
             "find_package(evo_tune 0.1 REQUIRED CONFIG)\nadd_executable(user main.cpp)\n"
             "target_link_libraries(user PRIVATE evo_tune::evo_tune)\n");
  write_file(folder_.path() / "work/main.cpp",
             "#include <evo_tune.hpp>\n#include <cstdio>\nint main() {\n"
             "  try {\n    evo_tune::Bundle bundle(\"absent\");\n"
             "  } catch (const evo_tune::Error& error) {\n    std::puts(error.what());\n  }\n}\n");
  EXPECT_EQ(shell(EVO_CMAKE " -S . -B b -DCMAKE_PREFIX_PATH=" + prefix() +
                  " && " EVO_CMAKE " --build b && b/user"),
            0)
      << output();
  EXPECT_THAT(output(), HasSubstr("absent/bundle.json: cannot be read"));
}

TEST_F(Installed, ADebianPackageHasTheSame) {
  if (std::system("command -v dpkg-deb dpkg-shlibdeps >/dev/null") != 0) GTEST_SKIP() << "no dpkg";
  ASSERT_EQ(shell(EVO_CPACK " -G DEB --config " EVO_BUILD_DIR "/CPackConfig.cmake -B ."), 0)
      << output();
  ASSERT_EQ(shell("dpkg-deb -x evo-tune_*.deb ../unpacked && dpkg-deb -f evo-tune_*.deb"), 0)
      << output();
  EXPECT_THAT(output(), AllOf(HasSubstr("Package: evo-tune"), HasSubstr("libsqlite3-0")));
  prefix_ = "unpacked/usr";
  EXPECT_EQ(run("evo-judge --device none --space row_softmax_l4 --jobs 1"), 0) << output();
}

}  // namespace
}  // namespace evo
