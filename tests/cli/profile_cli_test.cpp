// Tests evo-judge --profile and evo-tune --profile with a script in place of Nsight Compute (ncu).
// The script runs the worker program and then reports made-up metrics. The file also tests NVTX
// ranges.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/queries.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

std::string counted(double tensor, double dram) {
  return fmt::format(
      "\"ID\",\"gpu__time_duration.sum\",\"{}\",\"{}\"\n\"\",\"ns\",\"%\",\"%\"\n"
      "\"0\",\"5000\",\"{}\",\"{}\"\n",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed", tensor, dram);
}

/// A folder with a script in place of ncu, which reports the given utilisation of the tensor cores
/// and of the memory. As long as files idle0, idle1 … exist, each profiling by the script removes
/// one file and reports 12 % (tensor cores) and 90 % (memory). If a file `interrupt` exists, the
/// script sends SIGINT to evo-tune.
class ProfiledSession {
 public:
  ProfiledSession(double tensor, double dram, int idle_ones = 0) {
    write_file(session_.path("table"), counted(tensor, dram));
    for (int i = 0; i < idle_ones; ++i) {
      write_file(session_.path("idle" + std::to_string(i)), counted(12, 90));
    }
    write_file(session_.path("ncu"), R"(#!/bin/sh
if [ "$1" = --version ]; then echo "Version 2025.1.0.0"; exit 0; fi
while [ "$1" != --metrics ]; do [ "$1" != --log-file ] || log="$2"; shift; done
shift 2
"$@" || exit 1
cd ")" + session_.folder() + R"("
if [ -e interrupt ]; then rm interrupt; kill -INT $PPID; sleep 0.1; fi
for idle in idle*; do [ ! -e $idle ] || exec mv $idle "$log"; done
cp table "$log"
)");
    std::filesystem::permissions(session_.path("ncu"), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] ProgramResult run(const std::string& command) const {
    return run_program(command, session_.folder(),
                       session_.environment() + " EVO_NCU=" + session_.path("ncu"));
  }
  [[nodiscard]] const FakeSession& session() const { return session_; }

 private:
  FakeSession session_;
};

TEST(ProfileCli, JudgePassesAndRejectsByWhatWasCounted) {
  const ProfiledSession busy(61.5, 90);
  const ProgramResult passed = busy.run(FakeSession::judge("--profile"));
  EXPECT_EQ(passed.exit_code, 0) << passed.err;
  EXPECT_THAT(passed.out,
              HasSubstr("profile      dram 90 %, tensor 61.5 % (ncu 2025.1.0.0, measured)\nGREEN"));
  const ProfiledSession idle(12, 90);
  const ProgramResult rejected = idle.run(FakeSession::judge("--profile"));
  EXPECT_EQ(rejected.exit_code, 1) << rejected.err;
  EXPECT_THAT(rejected.out,
              HasSubstr("REJECTED at the profile gate: tensor >= 50 || dram < 50 is false"));
  const json found = json::parse(idle.run(FakeSession::judge("--profile --json")).out);
  EXPECT_EQ(found["verdict"], "rejected");
  EXPECT_EQ(found["profile"]["passed"], false);
  EXPECT_EQ(found["profile"]["metrics"]["tensor"]["value"], 12);
}

constexpr const char* kProfiled = "--generations 1 --offspring 6 --elite 2 --profile";

TEST(ProfileCli, WhatDoesNotPassLeavesTheElite) {
  const ProfiledSession one(61.5, 90, 1);
  const ProgramResult result = one.run(FakeSession::tune(kProfiled));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("REJECTED: dram 90 %, tensor 12 % (ncu 2025.1.0.0); required:"));
  const Store store = one.session().store();
  const auto withdrawals = store.withdrawals(1);
  ASSERT_EQ(withdrawals.size(), 1U);
  EXPECT_EQ(withdrawals[0].why.gate, Gate::kProfile);
  EXPECT_EQ(withdrawals[0].why.reason,
            "tensor >= 50 || dram < 50 is false: dram 90 %, tensor 12 % (ncu 2025.1.0.0)");
  const auto rows = elite_of_run(store, 1);
  ASSERT_EQ(rows.size(), 2U) << "the next kernel takes the place of the withdrawn one";
  for (const EliteRow& row : rows) {
    EXPECT_NE(row.candidate, withdrawals[0].candidate);
    EXPECT_TRUE(store.evaluation(row.candidate).profile.value().passed);
  }
  const std::string out = std::to_string(withdrawals[0].candidate);
  const ProgramResult shown = one.run("evo-elite show " + out);
  EXPECT_THAT(shown.out, HasSubstr("profile\n  kind = measured\n  tool = ncu 2025.1.0.0"));
  EXPECT_THAT(shown.out, HasSubstr("withdrawn: was green, and then failed profile"));
  const ProgramResult exported = one.run("evo-export --candidate " + out + " --out out");
  EXPECT_EQ(exported.exit_code, 2);
  EXPECT_THAT(exported.err, HasSubstr("then failed the profile gate"));
}

TEST(ProfileCli, WhereNothingPassesTheEliteIsEmpty) {
  const ProfiledSession idle(12, 90);
  const ProgramResult result = idle.run(FakeSession::tune(kProfiled));
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr(" kernels passed: the elite is empty. The fastest, candidate"));
  EXPECT_THAT(result.err, HasSubstr("tensor >= 50 || dram < 50 is false: dram 90 %, tensor 12 %"));
  EXPECT_THAT(result.out, HasSubstr("withdrawn: green, and failed later"));
  EXPECT_TRUE(elite_of_run(idle.session().store(), 1).empty());
  EXPECT_EQ(idle.run("evo-elite").exit_code, 1);
}

TEST(ProfileCli, ARunThatIsInterruptedMeanwhileGoesOnWithResume) {
  const ProfiledSession one(61.5, 90, 1);
  write_file(one.session().path("interrupt"), "");
  const ProgramResult interrupted = one.run(FakeSession::tune(kProfiled));
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, HasSubstr("interrupted before the whole elite was profiled"));
  write_file(one.session().path("idle0"), counted(12, 90));
  const ProgramResult resumed = one.run(FakeSession::tune("--resume --elite 2 --profile"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const Store store = one.session().store();
  EXPECT_EQ(store.withdrawals(1).size(), 1U);
  const auto rows = elite_of_run(store, 1);
  ASSERT_EQ(rows.size(), 2U);
  for (const EliteRow& row : rows) {
    EXPECT_TRUE(store.evaluation(row.candidate).profile.value().passed);
  }
}

TEST(ProfileCli, WithoutNsightComputeTheRunGoesOn) {
  const FakeSession session;
  const std::string none = session.environment() + " EVO_NCU=/nowhere/ncu";
  const ProgramResult judged = run_program(FakeSession::judge("--profile"), session.folder(), none);
  EXPECT_EQ(judged.exit_code, 0);
  EXPECT_THAT(judged.err, HasSubstr("the profile gate is skipped: Nsight Compute (ncu) is not"));
  const ProgramResult tuned = run_program(
      FakeSession::tune("--generations 1 --offspring 1 --profile"), session.folder(), none);
  EXPECT_EQ(tuned.exit_code, 0);
  EXPECT_THAT(tuned.err, HasSubstr("the profile gate is skipped: Nsight Compute (ncu) is not"));
  EXPECT_THAT(tuned.out, HasSubstr("export the winner"));
}

TEST(ProfileCli, AProblemWithoutOneAndNoDeviceAreRefused) {
  const FakeSession session;
  const ProgramResult none =
      session.run("evo-judge --space " + FakeSession::faults_space() + " --device none --profile");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("not supported with --device none"));
  const std::string busy = source_folder() / "tests/planted/search_spaces/busy.json";
  const ProgramResult without =
      session.run("evo-judge --space " + busy + " --device fake:measured --profile");
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("problem.json has no \"profile\""));
}

TEST(Nvtx, AProfilerSeesRunGenerationCandidateAndGate) {
  const FakeSession session;
  const ProgramResult result =
      run_program(FakeSession::tune("--generations 1 --offspring 1"), session.folder(),
                  session.environment() +
                      " NVTX_INJECTION64_PATH=" EVO_FAKE_NVTX_LIBRARY " EVO_FAKE_NVTX_FILE=" +
                      session.path("ranges"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  if (!std::filesystem::exists(session.path("ranges"))) GTEST_SKIP() << "built without NVTX";
  const std::string ranges = read_text_file(session.path("ranges"));
  EXPECT_THAT(ranges, HasSubstr("run 1/generation 0/candidate 0.0/correctness gate\n"));
  EXPECT_THAT(ranges, HasSubstr("run 1/generation 0/candidate 0.0/timing gate\n"));
  EXPECT_THAT(ranges, HasSubstr("run 1/generation 0/timing gate\n"))
      << "the control is timed outside the range of any candidate";
  EXPECT_THAT(ranges, EndsWith("\nthe process ended by itself\n"))
      << "a profiler writes its file when the process ends by itself";
}

}  // namespace
}  // namespace evo
