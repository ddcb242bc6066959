#include "engine/gate/correctness/run_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class RunProgram : public testing::Test {
 protected:
  ProgramEnd shell(const std::string& command,
                   std::chrono::seconds limit = std::chrono::seconds(60)) {
    return run_program({"sh", "-c", command}, folder_.path(), folder_.path() / "log", limit,
                       [this] { ++signs_; });
  }

  sample::TemporaryFolder folder_;
  int signs_ = 0;
};

TEST_F(RunProgram, TellsExitCodeAndOutput) {
  const ProgramEnd end = shell("echo one; echo two >&2; exit 3");
  EXPECT_EQ(end.kind, ProgramEnd::Kind::kExited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, "one\ntwo\n");
}

TEST_F(RunProgram, RunsInItsFolderWithoutInput) {
  EXPECT_EQ(shell("pwd -P; cat").output,
            std::filesystem::canonical(folder_.path()).string() + "\n");
}

TEST_F(RunProgram, OfMuchOutputTheEndIsKept) {
  const ProgramEnd end = shell("seq 1 100000");
  EXPECT_LE(end.output.size(), 4096U);
  EXPECT_THAT(end.output, EndsWith("99999\n100000\n"));
}

TEST_F(RunProgram, IsKilledWhenItWritesWithoutEnd) {
  const ProgramEnd end = shell("yes");
  EXPECT_EQ(end.kind, ProgramEnd::Kind::kTooMuch);
  EXPECT_THAT(end.output, HasSubstr("y\ny\n"));
}

TEST_F(RunProgram, TellsWhyItDoesNotStart) {
  const ProgramEnd end = run_program({"/no/such/program"}, folder_.path(), folder_.path() / "log",
                                     std::chrono::seconds(5), [] {});
  EXPECT_EQ(end.kind, ProgramEnd::Kind::kNotStarted);
  EXPECT_EQ(end.code, ENOENT);
}

TEST_F(RunProgram, TellsTheSignal) {
  const ProgramEnd end = shell("kill -SEGV $$");
  EXPECT_EQ(end.kind, ProgramEnd::Kind::kKilled);
  EXPECT_EQ(end.code, SIGSEGV);
}

TEST_F(RunProgram, IsKilledWithItsChildrenWhenItsTimeIsOver) {
  const ProgramEnd end =
      shell("sleep 60 & echo $! > child; echo begun; wait", std::chrono::seconds(1));
  EXPECT_EQ(end.kind, ProgramEnd::Kind::kTooLong);
  EXPECT_EQ(end.output, "begun\n");
  EXPECT_GE(signs_, 1);
  const int child = std::stoi(read_text_file(folder_.path() / "child"));
  // Waits up to one second for the child's end. kill() also finds a zombie, so the state in /proc
  // decides.
  for (int i = 0; i < 100 && kill(child, 0) == 0; ++i) usleep(10'000);
  const std::filesystem::path stat = "/proc/" + std::to_string(child) + "/stat";
  if (std::filesystem::exists(stat)) {
    EXPECT_THAT(read_text_file(stat), HasSubstr(") Z"));
  }
}

TEST_F(RunProgram, WhatItLeavesRunningIsKilled) {
  EXPECT_EQ(shell("sleep 60 & echo $! > child").code, 0);
  const int child = std::stoi(read_text_file(folder_.path() / "child"));
  for (int i = 0; i < 100 && kill(child, 0) == 0; ++i) usleep(10'000);
  const std::filesystem::path stat = "/proc/" + std::to_string(child) + "/stat";
  if (std::filesystem::exists(stat)) {
    EXPECT_THAT(read_text_file(stat), HasSubstr(") Z"));
  }
}

}  // namespace
}  // namespace evo
