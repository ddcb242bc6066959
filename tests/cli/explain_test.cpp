// Tests evo-tune --explain, which times the steps from the default configuration, and from the
// first green milestone, to the winner. The programs are real, the device is fake.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Explain : public testing::Test {
 protected:
  ProgramResult tune(const std::string& more) {
    return session_.run(FakeSession::tune("--generations 3 --offspring 4 --seed 3 " + more));
  }
  std::string insight() { return session_.run("evo-elite insight").out; }
  json insight_json() { return json::parse(session_.run("evo-elite insight --json").out); }

  FakeSession session_;
};

TEST_F(Explain, StepsFromTheDefaultAndTheFirstMilestoneLeadToTheWinner) {
  const ProgramResult result = tune("--json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Store store = session_.store();
  const CandidateId winner = elite_of_run(store, 1).front().candidate;
  const std::vector<WinnerWay> ways = store.winner_ways(1);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(ways[0].start, "default");
  EXPECT_EQ(ways[1].start, "clean");
  for (const WinnerWay& way : ways) {
    EXPECT_EQ(way.winner, winner);
    EXPECT_EQ(json::parse(way.steps.back().config_json),
              json::parse(store.evaluation(winner).config_json));
    for (std::size_t i = 1; i < way.steps.size(); ++i) {
      EXPECT_FALSE(way.steps[i].changes.empty());
      EXPECT_TRUE(way.steps[i].pairs > 0 || way.steps[i].note == "the same kernel")
          << way.steps[i].note;
    }
  }
  std::size_t told = 0;
  for (const json& line : json_lines(result.out)) {
    if (line.at("event") != "explained") continue;
    ++told;
    EXPECT_EQ(line.at("ways"), insight_json().at("ways"));
  }
  EXPECT_EQ(told, 1U);
  EXPECT_THAT(insight(), AllOf(HasSubstr("why the winner won, from the default to candidate " +
                                         std::to_string(winner) + ", by A/B pairs"),
                               HasSubstr("why the winner won, from the milestone clean"),
                               Not(HasSubstr("not measured"))));
}

TEST_F(Explain, LevelsEndAtTheWinnersTimeAndAgreeWithTheRatios) {
  ASSERT_EQ(tune("").exit_code, 0);
  const double winner_us = elite_of_run(session_.store(), 1).front().p50_us;
  for (const json& way : insight_json().at("ways")) {
    const json& steps = way.at("steps");
    EXPECT_DOUBLE_EQ(steps.back().at("level_us").get<double>(), winner_us);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      EXPECT_NEAR(steps[i].at("level_us").get<double>(),
                  steps[i - 1].at("level_us").get<double>() * steps[i].at("ratio").get<double>(),
                  1e-9);
    }
  }
}

TEST_F(Explain, OfPredictedTimesSaysSo) {
  const ProgramResult result = session_.run(
      "evo-tune --space " + FakeSession::faults_space() + " --device fake:predicted --timeout " +
      FakeSession::kStepSeconds + " --jobs 2 --generations 3 --offspring 4");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(insight(), AllOf(HasSubstr("by PREDICTED times"), Not(HasSubstr("A/B"))));
  for (const WinnerWay& way : session_.store().winner_ways(1)) {
    for (const WinnerStep& step : way.steps) EXPECT_EQ(step.pairs, 0);
  }
}

TEST_F(Explain, NoneTimesNothing) {
  ASSERT_EQ(tune("--explain none").exit_code, 0);
  EXPECT_TRUE(session_.store().winner_ways(1).empty());
  EXPECT_THAT(insight(), HasSubstr("why the winner won, step by step: not measured; evo-tune did "
                                   "not time the steps to the winner of this run"));
  EXPECT_TRUE(insight_json().at("ways").empty());
}

TEST_F(Explain, ARunOutOfTimeSaysThatNothingWasMeasured) {
  const ProgramResult result =
      session_.run(FakeSession::tune("--generations 100000 --offspring 4 --max-seconds 1.5"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(session_.store().winner_ways(1).empty());
  EXPECT_THAT(insight(), HasSubstr("not measured; the run was out of time"));
  EXPECT_EQ(insight_json().at("why_no_ways"), "the run was out of time");
}

TEST_F(Explain, AnObjectiveThatIsNotTheTimeHasNoSteps) {
  const ProgramResult result =
      session_.run(FakeSession::tune("--generations 2 --offspring 4 --objective 'time*2'"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(session_.store().winner_ways(1).empty());
  EXPECT_THAT(insight(),
              HasSubstr("steps to the winner are timed only if the objective is the time"));
}

TEST_F(Explain, WhatIsNoTimeIsRefused) {
  for (const char* wrong : {"yes", "0", "-3", "5s", "nan"}) {
    const ProgramResult result = tune(std::string("--explain=") + wrong);
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_THAT(result.err, AllOf(HasSubstr(wrong), HasSubstr("auto, none, or seconds")));
  }
}

TEST_F(Explain, EachShapeHasAWayOfItsOwn) {
  const ProgramResult result =
      session_.run(FakeSession::tune("--generations 2 --offspring 4 --shape mission,ragged"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const RunId run : {1, 2}) {
    const auto ways = session_.store().winner_ways(run);
    ASSERT_FALSE(ways.empty()) << run;
    EXPECT_EQ(ways.front().winner, elite_of_run(session_.store(), run).front().candidate);
  }
}

}  // namespace
}  // namespace evo
