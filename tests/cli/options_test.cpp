// Tests options of the command line: a program rejects an invalid number, an empty text or a pipe
// with a message that names the option or the value. Tests --help and --version, too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/utf8.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct NumberOption {
  std::string program;
  std::string option;
  bool zero = false;   ///< 0 is allowed
  bool real = false;   ///< a fraction is allowed
  bool any64 = false;  ///< every 64-bit number is allowed
};

std::vector<NumberOption> number_options() {
  return {{"evo-tune", "--generations"},
          {"evo-tune", "--offspring"},
          {"evo-tune", "--elite"},
          {"evo-tune", "--seed", true, false, true},
          {"evo-tune", "--check-seed", true, false, true},
          {"evo-tune", "--max-seconds", false, true},
          {"evo-tune", "--resume"},
          {"evo-tune", "--time-policy-rejects", true},
          {"evo-tune", "--jobs"},
          {"evo-tune", "--timeout", false, true},
          {"evo-judge", "--jobs"},
          {"evo-judge", "--timeout", false, true},
          {"evo-judge", "--check-seed", true, false, true},
          {"evo-elite", "--run"},
          {"evo-elite", "show"},
          {"evo-elite", "compare 1"},
          {"evo-report --out r.html", "--run"},
          {"evo-export --out out", "--run"},
          {"evo-export --out out", "--rank"},
          {"evo-export --out out", "--candidate"},
          {"evo-record --out r.json", "--count"},
          {"evo-record --out r.json --count 1", "--control-every"},
          {"evo-record --out r.json --count 1", "--max-in-flight"},
          {"evo-record --out r.json --count 1", "--seed", true, false, true},
          {"evo-record --out r.json --count 1", "--max-seconds", false, true},
          {"evo-record --out r.json", "--resume"},
          {"evo-replay --recorded none.json", "--repeats"},
          {"evo-replay --recorded none.json", "--budget"},
          {"evo-replay --recorded none.json", "--max-in-flight"},
          {"evo-replay --recorded none.json", "--seed", true, false, true},
          {"evo-replay --recorded none.json", "--jobs"}};
}

TEST(NumberOptions, OutOfRangeOrNoNumberIsBadUsageThatSaysWhatIsAllowed) {
  const FakeSession session;
  for (const NumberOption& option : number_options()) {
    std::vector<std::string> bad = {"x",  "nan",  "inf",   "-1",
                                    "1x", "0x10", "1e400", "99999999999999999999999"};
    if (!option.zero) bad.emplace_back("0");
    if (!option.real) bad.insert(bad.end(), {"1e3", "1.5"});
    if (!option.any64) bad.emplace_back("18446744073709551615");
    for (const std::string& value : bad) {
      const std::string command = option.program + " " + option.option + " " + value;
      const ProgramResult result = session.run(command);
      EXPECT_EQ(result.exit_code, 2) << command << "\n" << result.err;
      EXPECT_EQ(result.out, "") << command;
      EXPECT_THAT(result.err,
                  AllOf(HasSubstr("'" + value + "'"), HasSubstr("allowed: a"),
                        HasSubstr(option.option.starts_with("--") ? option.option : "ID")))
          << command;
    }
  }
}

TEST(NumberOptions, AreDecimal) {
  const FakeSession session;
  const ProgramResult result = session.run(
      FakeSession::tune("--generations 01 --offspring 010 --seed 18446744073709551615 --quiet"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const StoredRun run = session.store().run(1);
  EXPECT_EQ(run.info.offspring, 10);
  EXPECT_EQ(run.info.seed, 18446744073709551615U);
}

TEST(NumberOptions, TheLastOfTwoHolds) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::tune("--generations 1 --offspring 9 --offspring 4 --quiet"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(session.store().run(1).info.offspring, 4);
}

/// An unset shell variable in a command gives an empty value. A program must reject the empty value
/// instead of taking the default, because the user intended another value.
TEST(TextOptions, AnEmptyTextIsBadUsageThatNamesTheOption) {
  const FakeSession session;
  for (const auto& [program, option] : std::vector<std::pair<std::string, std::string>>{
           {"evo-tune", "--space"},
           {"evo-tune", "--shape"},
           {"evo-tune", "--db"},
           {"evo-tune", "--objective"},
           {"evo-judge", "--milestone"},
           {"evo-judge", "--save"},
           {"evo-judge", "--set"},
           {"evo-elite", "--shape"},
           {"evo-elite insight", "--db"},
           {"evo-export", "--out"},
           {"evo-export --out out", "--name"},
           {"evo-report", "--out"},
           {"evo-init kernel.cu", "--name"},
           {"evo-record", "--out"},
           {"evo-replay", "--recorded"},
           {"evo-ptx-run kernel.ptx --entry k", "--save"}}) {
    const ProgramResult result = session.run(program + " " + option + " ''");
    EXPECT_EQ(result.exit_code, 2) << program << ' ' << option;
    EXPECT_THAT(result.err, AllOf(HasSubstr(option), HasSubstr("''")));
    EXPECT_EQ(result.out, "") << program << ' ' << option;
  }
  EXPECT_TRUE(std::filesystem::is_empty(session.folder()));
}

TEST(TextOptions, AnObjectiveThatIsNoExpressionNamesTheOption) {
  const FakeSession session;
  const ProgramResult result = session.run("evo-tune --device fake:measured --objective 'time*'");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--objective: bad expression 'time*'"));
}

TEST(Help, FitsEightyColumnsAndNamesValuesByWords) {
  const FakeSession session;
  for (const char* command :
       {"evo-elite", "evo-elite show", "evo-elite overall", "evo-export", "evo-init", "evo-judge",
        "evo-predict", "evo-predict rank", "evo-predict explain", "evo-ptx-run", "evo-record",
        "evo-replay", "evo-report", "evo-tune", "evo-tune doctor"}) {
    const ProgramResult result = session.run(std::string(command) + " --help");
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_TRUE(result.out.starts_with(std::string(command) + ": ")) << result.out;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 80U) << line;
    EXPECT_THAT(result.out, AllOf(HasSubstr("\nExit codes:\n  0    "), HasSubstr("\nOptions:\n")));
    for (const char* oddity :
         {"INT", "TEXT", "FLOAT", "Excludes:", "Needs:", "REQUIRED", "922337"}) {
      EXPECT_THAT(result.out, Not(HasSubstr(oddity))) << command;
    }
  }
}

TEST(Help, OfTheWorkerGoesToStandardOutput) {
  const FakeSession session;
  for (const char* command : {"evo-worker --help", "evo-worker -h", "evo-worker device --help",
                              "evo-worker host --connect localhost:1 --help"}) {
    const ProgramResult result = session.run(command);
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_TRUE(result.out.starts_with("usage: evo-worker ")) << command << result.out;
    EXPECT_EQ(result.err, "") << command;
  }
  const ProgramResult wrong = session.run("evo-worker helpp");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err, HasSubstr("--device, --jobs or both are required"));
}

/// Tests every program whose file is in the folder of this test and is named evo-….
TEST(Version, IsToldByEveryProgram) {
  const FakeSession session;
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(program_folder())) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("evo-")) continue;
    ++programs;
    const ProgramResult result = session.run(name + " --version");
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_EQ(result.out, name + " " + EVO_TEST_VERSION + "\n");
  }
  EXPECT_GE(programs, 11);
}

TEST(FileOptions, APipeIsNotWaitedFor) {
  const FakeSession session;
  ASSERT_EQ(mkfifo(session.path("pipe").c_str(), 0600), 0);
  for (const char* command :
       {"evo-judge --device fake:measured --space pipe",
        "evo-tune --device fake:measured --space pipe", "evo-init pipe",
        "evo-report --out r.html --db pipe", "evo-replay --recorded pipe",
        "evo-ptx-run pipe --entry k", "evo-elite --db pipe", "evo-export --t4 t4.json --db pipe"}) {
    const ProgramResult result = session.run(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("pipe")) << command;
  }
}

}  // namespace
}  // namespace evo
