// Tests the programs after an installation in a temporary folder. The programs do not see the
// environment variables of the test, such as the locations of build folders; exceptions: EVO_NVRTC
// and CUDA_HOME.

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
  /// Runs a shell command in a working folder of the test. output() then returns the command's
  /// standard output and error.
  int shell(const std::string& command) {
    fs::create_directories(folder_.path() / "work");
    const std::string line = "cd " + (folder_.path() / "work").string() + " && { " + command +
                             "; } >" + (folder_.path() / "output").string() + " 2>&1";
    return std::system(line.c_str());
  }
  /// Runs an installed program. The environment of the program has only a PATH of the system's
  /// programs, EVO_NVRTC and CUDA_HOME if they are set, and `variables`.
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
  // The installed folder can be moved, because no file in it contains the path of the folder.
  fs::rename(folder_.path() / "prefix", folder_.path() / "moved");
  prefix_ = "moved";
  EXPECT_EQ(run("evo-tune --device none --space row_softmax_l4 --generations 1 --offspring 1"), 0)
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
#if !defined(__SANITIZE_ADDRESS__)  // this sanitizer stores source paths in programs
  EXPECT_NE(shell("grep -rlF " EVO_SOURCE_DIR "/ " + prefix()), 0) << output();
#endif
}

/// The tests write the following scripts to files, because their text as an argument of a shell
/// would need nested quotes.
const char* const kBashScript = R"sh(. "$1/share/bash-completion/completions/$2"
read -r -a words <<<"$3"
[[ $3 != *' ' ]] || words+=('')
COMP_WORDS=("$1/bin/$2" "${words[@]}")
COMP_CWORD=${#words[@]}
_evo_tune
printf '%s\n' "${COMPREPLY[*]}"
)sh";

const char* const kZshScript = R"sh(zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1=; stty -echo; path=($1/bin \$path); fpath=($1/share/zsh/site-functions \$fpath)"
zpty -w shell 'autoload -Uz compinit; compinit -u -D'
zpty -w shell 'finish() { print -r -- "<$BUFFER>"; exit }; zle -N finish; bindkey "^X" finish'
zpty -w shell 'print rea""dy'
zpty -r shell line '*ready*'
zpty -w -n shell "$2"$'\t\C-x'
zpty -r shell line '*<*>*'
print -r -- ${${line#*<}%>*}
)sh";

/// The completion must handle that bash splits words also at '=' and ':'.
TEST_F(Installed, BashCompletesCommandsOptionsAndValues) {
  install();
  for (const char* file : {"own.json", "other.txt", "kept.db"})
    write_file(folder_.path() / "work" / file, "");
  write_file(folder_.path() / "complete.bash", kBashScript);
  struct Line {
    const char* program;
    const char* words;
    const char* expected;
  };
  for (const auto& [program, words, expected] :
       std::vector<Line>{{"evo-export", "--bun", "--bundle"},
                         {"evo-elite", "mi", "milestones"},
                         {"evo-elite", "milestones --sh", "--shape"},
                         {"evo-elite", "overall --we", "--weight"},
                         {"evo-predict", "ra", "rank"},
                         {"evo-tune", "--space row_softmax_l", "row_softmax_l4"},
                         {"evo-tune", "--space own", "own.json"},
                         {"evo-tune", "--db k", "kept.db"},
                         {"evo-tune", "--device virtual :", "l4 a100 h200"},
                         {"evo-tune", "--device virtual : h", "h200"},
                         {"evo-tune", "--device = virtual : h", "h200"},
                         {"evo-tune", "--strategy ge", "genetic"},
                         {"evo-tune", "--objective en", "energy"},
                         {"evo-tune", "--space row_softmax_l4 --shape na", "narrow"},
                         {"evo-judge", "--space row_softmax_l4 --milestone vec", "vectors"},
                         {"evo-judge", "--space row_softmax_l4 --set METHOD = on", "online"},
                         {"evo-predict", "explain row_softmax_l4 --shape na", "narrow"},
                         {"evo-ptx-run", "--device virtual : a", "a100"},
                         {"evo-init", "oth", "other.txt"},
                         {"evo-record", "--jobs ", ""},
                         {"evo-replay", "--strategy diff", "differential"},
                         {"evo-report", "--ou", "--out"}}) {
    EXPECT_EQ(shell("bash ../complete.bash " + prefix() + " " + program + " '" + words + "'"), 0);
    EXPECT_EQ(output(), std::string(expected) + "\n") << program << ' ' << words;
  }
}

/// The test types a line into zsh in a pseudo terminal, and presses the tab key.
TEST_F(Installed, ZshCompletesCommandsOptionsAndValues) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "no zsh";
  install();
  write_file(folder_.path() / "work/own.json", "");
  write_file(folder_.path() / "complete.zsh", kZshScript);
  for (const auto& [typed, expected] : std::vector<std::pair<std::string, std::string>>{
           {"evo-elite rej", "evo-elite rejections "},
           {"evo-elite milestones --sh", "evo-elite milestones --shape "},
           {"evo-tune --device virtual:h", "evo-tune --device virtual:h200 "},
           {"evo-tune --space ow", "evo-tune --space own.json "},
           {"evo-judge --space row_softmax_l4 --set METHOD=on",
            "evo-judge --space row_softmax_l4 --set METHOD=online "},
           {"evo-predict explain row_softmax_l4 --shape na",
            "evo-predict explain row_softmax_l4 --shape narrow "}}) {
    EXPECT_EQ(shell("timeout 60 zsh -f ../complete.zsh " + prefix() + " '" + typed + "'"), 0);
    EXPECT_EQ(output(), expected + "\n");
  }
}

TEST_F(Installed, ManualPagesHaveTheUsualSectionsAndNoMistakes) {
  install();
  int pages = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix() + "/share/man/man1")) {
    ++pages;
    const std::string file = entry.path().string();
    const std::string page = read_text_file(file);
    for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES",
                                "EXIT STATUS", "FILES", "SEE ALSO"}) {
      EXPECT_THAT(page, HasSubstr(std::string("\n.SH ") + section + "\n")) << file;
    }
    // man, mandoc and groff check the manual page, each only if it is installed on this machine.
    for (const std::string check :
         {"man --warnings -l", "mandoc -T lint -W warning", "groff -man -Tutf8 -ww -z"}) {
      const std::string program = check.substr(0, check.find(' '));
      if (std::system(("command -v " + program + " >/dev/null").c_str()) != 0) continue;
      EXPECT_EQ(shell(check + " " + file + " 2>&1 >/dev/null"), 0) << output();
      EXPECT_EQ(output(), "") << check;
    }
  }
  EXPECT_EQ(pages, 10);
  const std::string tune = read_text_file(prefix() + "/share/man/man1/evo-tune.1");
  EXPECT_THAT(tune,
              AllOf(HasSubstr(".TH EVO-TUNE 1"), HasSubstr("\\fB\\-\\-generations\\fR \\fIN\\fR"),
                    HasSubstr("\n.SH ENVIRONMENT\n"), HasSubstr("EVO_NVRTC")));
  EXPECT_THAT(read_text_file(prefix() + "/share/man/man1/evo-elite.1"),
              AllOf(HasSubstr("\n.SH COMMANDS\n.SS show\n"), HasSubstr("\n.SS overall\n")));
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
  EXPECT_THAT(output(), AllOf(HasSubstr("Package: evo-tune"), HasSubstr("libsqlite3-0"),
                              HasSubstr("Recommends: cuda-nvrtc-dev-13-0 | ")));
  prefix_ = "unpacked/usr";
  EXPECT_EQ(run("evo-judge --device none --space row_softmax_l4 --jobs 1"), 0) << output();
}

}  // namespace
}  // namespace evo
