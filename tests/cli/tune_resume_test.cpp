// Tests evo-tune --resume, which continues an interrupted or killed run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// The configuration and outcome of every evaluation of a run, in order. Two runs with equal lists
/// made the same decisions.
std::vector<std::string> history(const Store& store, RunId run) {
  std::vector<std::string> entries;
  for (const EvaluationRecord& evaluation : store.evaluations(run)) {
    std::string outcome = evaluation.rejection ? std::string(to_string(evaluation.rejection->gate))
                                               : std::to_string(evaluation.timing->p50_us);
    if (evaluation.duplicate_of) outcome += " again";
    entries.push_back(std::to_string(evaluation.generation) + "." +
                      std::to_string(evaluation.position) + " " + evaluation.config_json + " " +
                      outcome);
  }
  return entries;
}

std::vector<std::string> elites(const Store& store, RunId run) {
  std::vector<std::string> entries;
  for (const StoredGeneration& generation : store.generations(run)) {
    std::string entry = std::to_string(generation.record.number) + ":";
    for (const CandidateId member : generation.record.elite) {
      entry += " " + store.evaluation(member).config_json;
    }
    entries.push_back(entry);
  }
  return entries;
}

/// The number of processes that have EVO_FAKE_MARK=`mark` in their environment.
int processes_with(const std::string& mark) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stream(entry.path() / "environ", std::ios::binary);
    const std::string environment((std::istreambuf_iterator<char>(stream)), {});
    count += environment.find("EVO_FAKE_MARK=" + mark) != std::string::npos ? 1 : 0;
  }
  return count;
}

class EvoTuneResume : public testing::Test {
 protected:
  static constexpr const char* kOptions =
      "--generations 4 --offspring 6 --seed 7 --json --no-warm-start";

  /// Starts a run, and sends `signal` to evo-tune once it has reported `evaluations` evaluations.
  int stop_after(int evaluations, int signal) const {
    RunningProgram program(FakeSession::tune(kOptions), session_.folder(),
                           session_.environment() + " EVO_FAKE_COMPILE_MS=20");
    return stop_after_evaluations(program, evaluations, signal);
  }

  FakeSession session_;
};

TEST_F(EvoTuneResume, AnInterruptedRunSavesAllAndGoesOn) {
  EXPECT_EQ(stop_after(5, SIGINT), 130);
  const std::vector<std::string> before = history(session_.store(), 1);
  EXPECT_GE(before.size(), 5U);
  EXPECT_LT(before.size(), 23U);
  EXPECT_EQ(session_.store().run(1).status, RunStatus::kInterrupted);

  const ProgramResult resumed =
      session_.run(FakeSession::tune(std::string(kOptions) + " --resume"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(session_.store().runs().size(), 1U);
  const std::vector<std::string> after = history(session_.store(), 1);
  ASSERT_GT(after.size(), before.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
}

TEST_F(EvoTuneResume, ARunOutOfTimeGoesOn) {
  const std::string slow = session_.environment() + " EVO_FAKE_COMPILE_MS=300";
  const ProgramResult first =
      run_program(FakeSession::tune("--generations 4 --offspring 6 --max-seconds 0.5"),
                  session_.folder(), slow);
  EXPECT_THAT(first.err, HasSubstr("out of time; everything is saved: continue with --resume"));
  const std::size_t before = session_.store().evaluations(1).size();
  ASSERT_LT(before, 23U);

  const ProgramResult resumed = session_.run(FakeSession::tune("--resume"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(session_.store().runs().size(), 1U);
  EXPECT_GT(session_.store().evaluations(1).size(), before);
  EXPECT_EQ(session_.store().run(1).status, RunStatus::kFinished);
}

TEST_F(EvoTuneResume, ARunKilledAnywhereContinuesAsIfItHadNotBeen) {
  const FakeSession undisturbed;
  ASSERT_EQ(undisturbed.run(FakeSession::tune(kOptions)).exit_code, 0);
  // Each repetition starts a run, kills evo-tune in the first generation, which has more than 12
  // evaluations, and then resumes the run.
  for (const int evaluations : {3, 12, 6}) {
    EXPECT_EQ(stop_after(evaluations, SIGKILL), 128 + SIGKILL);
    const std::size_t stored = session_.store().evaluations(1).size();
    EXPECT_GE(stored, static_cast<std::size_t>(evaluations));
    const ProgramResult resumed =
        session_.run(FakeSession::tune(std::string(kOptions) + " --resume"));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    const RunId run = session_.store().runs().back().id;
    EXPECT_EQ(history(session_.store(), run), history(undisturbed.store(), 1));
    EXPECT_EQ(elites(session_.store(), run), elites(undisturbed.store(), 1));
  }
}

TEST_F(EvoTuneResume, KilledInALaterGeneration) {
  const FakeSession undisturbed;
  ASSERT_EQ(undisturbed.run(FakeSession::tune(kOptions)).exit_code, 0);
  EXPECT_EQ(stop_after(38, SIGKILL), 128 + SIGKILL);
  EXPECT_GE(session_.store().generations(1).size(), 1U);
  ASSERT_EQ(session_.run(FakeSession::tune(std::string(kOptions) + " --resume")).exit_code, 0);
  EXPECT_EQ(history(session_.store(), 1), history(undisturbed.store(), 1));
  EXPECT_EQ(elites(session_.store(), 1), elites(undisturbed.store(), 1));
}

TEST_F(EvoTuneResume, NothingToResumeIsBadInput) {
  const ProgramResult result = session_.run(FakeSession::tune("--resume"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no unfinished run"));
  EXPECT_EQ(session_.run(FakeSession::tune("--resume 99")).exit_code, 2);
}

TEST_F(EvoTuneResume, WhatHasChangedSinceIsNamed) {
  namespace fs = std::filesystem;
  const fs::path mine = session_.path("mine");
  fs::copy(source_folder() / "tests/planted", mine, fs::copy_options::recursive);
  const auto command = [&](const std::string& more) {
    return FakeSession::tune(std::string(kOptions) + " --space " +
                             (mine / "search_spaces/planted_faults.json").string() + " " + more);
  };
  RunningProgram program(command(""), session_.folder(),
                         session_.environment() + " EVO_FAKE_COMPILE_MS=20");
  EXPECT_EQ(stop_after_evaluations(program, 3, SIGINT), 130);
  const auto why = [&](const std::string& more) {
    const ProgramResult result = session_.run(command(more));
    EXPECT_EQ(result.exit_code, 2) << more;
    return result.err;
  };
  const std::string other = "run 1, which is not finished, is on ";
  EXPECT_THAT(why("--resume --shape ragged"), HasSubstr(other + "shape mission, now it is ragged"));
  const fs::path source = mine / "kernel_templates/planted/planted.cu";
  const std::string text = read_text_file(source);
  write_file(source, text + "// changed\n");
  EXPECT_THAT(why("--resume"),
              HasSubstr(other + "problem planted, whose files have changed since"));
  EXPECT_THAT(why("--resume 1"),
              HasSubstr("run 1 is on problem planted, whose files have changed since; resume"));
  write_file(source, text);
  EXPECT_EQ(session_.run(command("--resume")).exit_code, 0);
}

TEST_F(EvoTuneResume, NoWorkerOutlivesAKilledRun) {
  RunningProgram program(FakeSession::tune(kOptions), session_.folder(),
                         session_.environment() + " EVO_FAKE_MARK=" + session_.folder());
  (void)program.read_line();
  EXPECT_GT(processes_with(session_.folder()), 1);
  program.send(SIGKILL);
  (void)program.wait();
  // The operating system kills the workers when evo-tune is killed, but this takes a moment.
  constexpr int kLooks = 200;
  for (int i = 0; i < kLooks && processes_with(session_.folder()) > 0; ++i) usleep(10000);
  EXPECT_EQ(processes_with(session_.folder()), 0);
}

}  // namespace
}  // namespace evo
