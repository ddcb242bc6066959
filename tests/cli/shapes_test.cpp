// Tests evo-tune with several shapes and with results of earlier runs, and evo-judge --baseline,
// which compares a kernel with a stored winner. The device is fake.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShort = "--generations 2 --offspring 4 --seed 7 ";

TEST(EvoTuneShapes, AnEliteForEachFromOneSearch) {
  const FakeSession session;
  const ProgramResult result =
      session.run(FakeSession::tune(std::string(kShort) + "--shape mission,ragged"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("runs 1 to 2"), HasSubstr("shapes mission, ragged"),
                                HasSubstr("best p50 mission 5.")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("elite of run 1"), HasSubstr("shape mission"),
                                HasSubstr("elite of run 2"), HasSubstr("shape ragged")));
  const Store store = session.store();
  EXPECT_EQ(store.runs_beside(2), (std::vector<RunId>{1, 2}));
  EXPECT_EQ(store.run(1).evaluated, store.run(2).evaluated);

  const ProgramResult overall = session.run("evo-elite overall --run 2 --json --weight ragged=3");
  ASSERT_EQ(overall.exit_code, 0) << overall.err;
  const json best = json_lines(overall.out).front();
  EXPECT_NEAR(best["mean"].get<double>(), 1, 0.01);
  EXPECT_NEAR(best["mission"].get<double>(), 1, 0.01);
  EXPECT_EQ(session.run("evo-elite overall --weight none=3").exit_code, 2);
  EXPECT_EQ(session.run("evo-elite overall --weight ragged=-1").exit_code, 2);
}

TEST(EvoTuneShapes, GoesOnWhereItWasAndFurther) {
  const FakeSession session;
  const std::string options = std::string(kShort) + "--no-warm-start --shape ragged,single ";
  ASSERT_EQ(session.run(FakeSession::tune(options)).exit_code, 0);
  const ProgramResult without = session.run(FakeSession::tune("--resume 1"));
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("give --shape ragged,single"));
  const ProgramResult more =
      session.run(FakeSession::tune("--seed 7 --shape ragged,single --resume 2 --generations 4"));
  ASSERT_EQ(more.exit_code, 0) << more.err;
  const Store store = session.store();
  EXPECT_EQ(store.runs().size(), 2U);
  for (const RunId run : {1, 2}) {
    EXPECT_EQ(store.run(run).last_generation, 3);
    EXPECT_EQ(json::parse(store.run(run).info.options_json)["generations"], 4);
  }
  // The resumed run must equal a run that had four generations from the start.
  const FakeSession whole;
  ASSERT_EQ(whole.run(FakeSession::tune(options + "--generations 4")).exit_code, 0);
  const auto configs = [](const Store& of) {
    std::vector<std::string> found;
    for (const EvaluationRecord& one : of.evaluations(1)) found.push_back(one.config_json);
    return found;
  };
  EXPECT_EQ(configs(store), configs(whole.store()));
}

TEST(EvoTuneShapes, WhatCannotBeTunedTogetherIsRefused) {
  const FakeSession session;
  for (const char* shapes : {"mission,none", "tag:none", "mission,,ragged", ""}) {
    const ProgramResult result =
        session.run(FakeSession::tune(std::string(kShort) + "--shape '" + shapes + "'"));
    EXPECT_EQ(result.exit_code, 2) << shapes;
  }
  EXPECT_THAT(session.run(FakeSession::judge("--shape mission,ragged")).err,
              HasSubstr("only one is allowed"));
}

/// The places, origins and values of a run's candidates, one a line.
std::string candidates_of(const Store& store, RunId run) {
  std::string lines;
  for (const EvaluationRecord& evaluation : store.evaluations(run)) {
    lines += std::to_string(evaluation.generation) + "." + std::to_string(evaluation.position) +
             " " + evaluation.origin + " " + evaluation.config_json + "\n";
  }
  return lines;
}

TEST(EvoTuneWarmStart, ALaterRunBeginsWithTheBestOfAnEarlierOne) {
  const FakeSession session;
  const std::string options = std::string(kShort);
  const ProgramResult first = session.run(FakeSession::tune(options + "--shape mission"));
  ASSERT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.err, Not(HasSubstr("warm start")));
  const ProgramResult second = session.run(FakeSession::tune(options + "--shape ragged"));
  ASSERT_EQ(second.exit_code, 0);
  EXPECT_THAT(second.err, HasSubstr("warm start: 3 configurations of run 1 are judged first"));
  const ProgramResult cold =
      session.run(FakeSession::tune(options + "--shape ragged --no-warm-start"));
  EXPECT_THAT(cold.err, Not(HasSubstr("warm start")));
  const Store store = session.store();
  int warm = 0;
  for (const EvaluationRecord& evaluation : store.evaluations(2)) {
    warm += evaluation.origin == "warm start" ? 1 : 0;
  }
  EXPECT_GE(warm, 2) << "one of the three may be the default configuration";
}

TEST(EvoTuneWarmStart, AResumedRunKeepsItsOwn) {
  const auto tune = [](const std::string& more) {
    return FakeSession::tune("--offspring 4 --seed 7 --check-seed 5 " + more);
  };
  const FakeSession whole;
  ASSERT_EQ(whole.run(tune("--shape mission --generations 2")).exit_code, 0);
  ASSERT_EQ(whole.run(tune("--shape ragged --generations 3")).exit_code, 0);
  const FakeSession session;
  ASSERT_EQ(session.run(tune("--shape mission --generations 2")).exit_code, 0);
  RunningProgram stopped(tune("--shape ragged --generations 2 --json"), session.folder(),
                         session.environment() + " EVO_FAKE_COMPILE_MS=100");
  ASSERT_EQ(stop_after_evaluations(stopped, 2, SIGTERM), 130);
  EXPECT_THAT(candidates_of(session.store(), 2), Not(HasSubstr("warm start")));
  // Another run stores configurations with which a new run would begin.
  const std::string other = "--generations 6 --seed 8 --no-warm-start --shape ragged";
  ASSERT_EQ(session.run(FakeSession::tune(other)).exit_code, 0);
  const ProgramResult resumed =
      session.run(FakeSession::tune("--shape ragged --resume 2 --generations 3"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(session.store().run(2).last_generation, 2);
  EXPECT_EQ(candidates_of(session.store(), 2), candidates_of(whole.store(), 2));
}

class EvoJudgeAgainst : public testing::Test {
 protected:
  void SetUp() override {
    const ProgramResult run =
        session_.run(FakeSession::tune("--generations 6 --offspring 8 --seed 7"));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    ASSERT_EQ(session_.run("evo-export --bundle winners").exit_code, 0);
  }
  ProgramResult judge(const std::string& more) const {
    return session_.run(FakeSession::judge(more));
  }

  FakeSession session_;
};

TEST_F(EvoJudgeAgainst, TheWinnerIsNotSlowerThanItself) {
  for (const char* against : {"evo.db", "winners"}) {
    const ProgramResult result = judge(std::string("--baseline ") + against);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("the machine code is the same: NOT SLOWER"));
  }
}

TEST_F(EvoJudgeAgainst, ASlowerKernelIsExitCodeOneWithTheInterval) {
  for (const char* against : {"evo.db", "winners"}) {
    const ProgramResult result =
        judge(std::string("--set THREADS=512 ITEMS=1 --json --baseline ") + against);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    const json found = json_lines(result.out).front();
    EXPECT_EQ(found["verdict"], "green");
    EXPECT_EQ(found["against"]["slower"], true);
    EXPECT_GT(found["against"]["low"], 1.1);
    EXPECT_LE(found["against"]["low"], found["against"]["ratio"]);
    EXPECT_THAT(judge(std::string("--set THREADS=512 ITEMS=1 --baseline ") + against).out,
                HasSubstr("SLOWER (certain)"));
  }
}

TEST_F(EvoJudgeAgainst, AFasterKernelIsNotSlower) {
  // Makes a run in slow.db whose configurations are all slow, so that its winner is slow.
  const std::string space = session_.path("slow/search_spaces/slow.json");
  std::filesystem::create_directories(session_.path("slow"));
  std::filesystem::copy(source_folder() / "tests/planted", session_.path("slow"),
                        std::filesystem::copy_options::recursive);
  json slow = json::parse(std::ifstream(session_.path("slow/search_spaces/wide.json")));
  slow["parameters"][1] = {{"macro", "THREADS"}, {"values", {512}}, {"meaning", "many"}};
  slow["parameters"][3]["values"] = {0, 1};
  slow["constraints"] = json::array();
  std::ofstream(space) << slow.dump();
  const ProgramResult run = session_.run("evo-tune --db slow.db --device fake:measured --space " +
                                         space + " --generations 1");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const ProgramResult result = judge("--set THREADS=128 ITEMS=2 --baseline slow.db");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("NOT SLOWER: faster (certain)"));
}

TEST_F(EvoJudgeAgainst, SaysWhatIsMissing) {
  EXPECT_THAT(judge("--baseline evo.db --shape ragged").err,
              AllOf(HasSubstr("no winner"), HasSubstr("on mission")));
  EXPECT_THAT(judge("--baseline winners --shape ragged").err, HasSubstr("no kernel serves"));
  EXPECT_EQ(judge("--baseline none.db").exit_code, 2);
  const ProgramResult predicted =
      session_.run("evo-judge --space " + FakeSession::faults_space() +
                   " --device fake:predicted --jobs 1 --baseline evo.db");
  EXPECT_EQ(predicted.exit_code, 2);
  EXPECT_THAT(predicted.err, HasSubstr("needs a device that measures times"));
}

}  // namespace
}  // namespace evo
