// Tests, with fake workers, the path from the default configuration to the winner; each step of the
// path changes one or several macros.

#include "engine/run/winner_way.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kAmple_s = 100;

/// The time of a kernel in µs: 100 by default; OTHER 1 halves the time, THREADS 128 reduces it by
/// 10 %, and ITEMS 4 increases it by 10 %.
double time_us(const fake::Program& program) {
  double us = 100;
  if (program.number("OTHER", 0) == 1) us *= 0.5;
  if (program.number("THREADS", 0) == 128) us *= 0.9;
  if (program.number("ITEMS", 0) == 4) us *= 1.1;
  return us;
}

fake::DeviceBehaviour timed_so(TimeKind kind = TimeKind::kMeasured) {
  fake::DeviceBehaviour behaviour;
  behaviour.kind = kind;
  behaviour.time_us = time_us;
  return behaviour;
}

/// Finds the path from the defaults (THREADS 64, ITEMS 1, OTHER 0) to the winner (THREADS 128,
/// ITEMS 4, OTHER 1) with fake workers.
class Way {
 public:
  explicit Way(fake::DeviceBehaviour behaviour, const std::string& constraint = "")
      : world_(store_, std::move(behaviour), {.space = "distinct"}) {
    if (!constraint.empty()) add_constraint(constraint);
    const Space& space = world_.task().space();
    winner_.id = 7;
    winner_.candidate =
        space.candidate_from_json(R"({"BUG":"none","THREADS":128,"ITEMS":4,"OTHER":1})");
    const Evaluation judged =
        world_.bench->wait(world_.bench->evaluator().evaluate(winner_.candidate, {}));
    EXPECT_TRUE(judged.is_green());
    winner_.p50_us = judged.timing()->p50_us;
    winner_.kernel = kernel_under_test(world_.task(), judged);
  }

  FoundWay find(double seconds = kAmple_s, const KnownTimes& known = {}) {
    WayFinder finder(*world_.bench, winner_, known, 0);
    return finder.find({"default", world_.task().space().defaults()}, seconds);
  }

  World& world() { return world_; }
  const Space& space() { return world_.task().space(); }

 private:
  void add_constraint(const std::string& constraint) {
    const auto file = world_.folder.path() / "project/search_spaces/distinct.json";
    Json json = read_json_file(file);
    json["constraints"].push_back({{"expression", constraint}, {"why", "of the test"}});
    write_file(file, json.dump());
    fake::DeviceBehaviour behaviour = timed_so();
    auto loop = std::make_unique<fake::FakeLoop>();
    world_.loop = loop.get();
    Services services{std::move(loop), store_, nullptr};
    services.compilers = std::make_unique<fake::FakeCompileService>(*world_.loop, 4, 1);
    services.devices.push_back(std::make_unique<fake::FakeDeviceService>(*world_.loop, behaviour));
    world_.device = static_cast<fake::FakeDeviceService*>(services.devices.front().get());
    world_.bench =
        std::make_unique<Workbench>(WorkbenchOptions{.space_file = file}, std::move(services));
  }

  fake::MemoryStore store_;
  World world_;
  EliteMember winner_;
};

/// The changes of each step as text: "OTHER 0 1" means that OTHER changes from 0 to 1. If a step
/// changes several macros, commas separate the changes.
std::vector<std::string> changes_of(const WinnerWay& way) {
  std::vector<std::string> steps;
  for (const WinnerStep& step : way.steps) {
    if (step.changes.empty()) continue;
    std::string text;
    for (const MacroChange& change : step.changes) {
      text += (text.empty() ? "" : ", ") + change.macro + " " + change.from + " " + change.to;
    }
    steps.push_back(text);
  }
  return steps;
}

TEST(WinnerWay, TakesTheLargestGainFirstAndTimesEachStepInPairs) {
  Way way(timed_so());
  const WinnerWay found = way.find().way.value();
  EXPECT_EQ(found.start, "default");
  EXPECT_EQ(found.winner, 7);
  EXPECT_THAT(changes_of(found), ElementsAre("OTHER 0 1", "THREADS 64 128", "ITEMS 1 4"));
  ASSERT_EQ(found.steps.size(), 4U);
  EXPECT_DOUBLE_EQ(found.steps[0].p50_us, 100);
  EXPECT_DOUBLE_EQ(found.steps[1].ratio, 0.5);
  EXPECT_DOUBLE_EQ(found.steps[2].ratio, 0.9);
  EXPECT_DOUBLE_EQ(found.steps[3].ratio, 1.1);
  EXPECT_EQ(found.steps[1].pairs, 40);
  EXPECT_LT(found.steps[1].ratio_low, 0.5);
  EXPECT_GT(found.steps[1].ratio_high, 0.5);
  for (const WinnerStep& step : found.steps) EXPECT_EQ(step.note, "");
}

TEST(WinnerWay, PredictedTimesNeedNoPairs) {
  Way way(timed_so(TimeKind::kPredicted));
  const WinnerWay found = way.find().way.value();
  EXPECT_THAT(changes_of(found), ElementsAre("OTHER 0 1", "THREADS 64 128", "ITEMS 1 4"));
  EXPECT_DOUBLE_EQ(found.steps[2].ratio, 0.9);
  EXPECT_EQ(found.steps[2].pairs, 0);
  for (const std::string& request : way.world().device->requests()) {
    EXPECT_THAT(request, testing::Not(HasSubstr("compare")));
  }
}

TEST(WinnerWay, MacrosOfAConstraintChangeTogether) {
  Way way(timed_so(), "(OTHER == 1) == (ITEMS == 4) || OTHER > 1");
  const WinnerWay found = way.find().way.value();
  EXPECT_THAT(changes_of(found), ElementsAre("ITEMS 1 4, OTHER 0 1", "THREADS 64 128"));
  EXPECT_THAT(found.steps[1].note, HasSubstr("the space requires (OTHER == 1) == (ITEMS == 4)"));
  EXPECT_DOUBLE_EQ(found.steps[1].ratio, 0.55);
}

TEST(WinnerWay, PassesOverWhatFailsAGate) {
  fake::DeviceBehaviour behaviour = timed_so();
  behaviour.check = [](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    const bool is_alone = program.number("OTHER", 0) == 1 && program.number("ITEMS", 0) == 1;
    if (is_alone) result.rejection = Rejection{Gate::kCorrectness, "wrong"};
    return result;
  };
  Way way(behaviour);
  const WinnerWay found = way.find().way.value();
  EXPECT_THAT(changes_of(found), ElementsAre("THREADS 64 128", "ITEMS 1 4", "OTHER 0 1"));
}

TEST(WinnerWay, WhereAllFailAloneTheyChangeTogether) {
  fake::DeviceBehaviour behaviour = timed_so();
  behaviour.check = [](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    const int changed = (program.number("OTHER", 0) == 1 ? 1 : 0) +
                        (program.number("ITEMS", 0) == 4 ? 1 : 0) +
                        (program.number("THREADS", 0) == 128 ? 1 : 0);
    if (changed == 1) result.rejection = Rejection{Gate::kCorrectness, "wrong"};
    return result;
  };
  Way way(behaviour);
  const WinnerWay found = way.find().way.value();
  EXPECT_THAT(changes_of(found), ElementsAre("THREADS 64 128, ITEMS 1 4, OTHER 0 1"));
  EXPECT_EQ(found.steps[1].note, "a change of only some of these macros fails a gate");
  EXPECT_EQ(found.steps[1].pairs, 40);
}

TEST(WinnerWay, WhenTheTimeIsOverTheRestIsOneStep) {
  int cut_short = 0;
  for (int ms = 10; ms <= 200; ms += 10) {
    Way way(timed_so());
    const FoundWay found = way.find(ms / 1e3);
    EXPECT_EQ(way.world().bench->loop().stop().deadline, SteadyTime::max());
    if (!found.way) continue;
    double product = 1;
    for (const WinnerStep& step : found.way->steps) product *= step.ratio;
    EXPECT_NEAR(product, 0.495, 1e-9) << "the steps together lead to the winner";
    const WinnerStep& last = found.way->steps.back();
    if (last.note != "the time limit was reached") continue;
    ++cut_short;
    EXPECT_EQ(last.pairs, 0);
    EXPECT_GT(last.changes.size(), 1U);
  }
  EXPECT_GT(cut_short, 1);
}

TEST(WinnerWay, AKernelThatWasNotCheckedIsNoted) {
  fake::DeviceBehaviour behaviour = timed_so();
  behaviour.check_ms = 50;
  int noted = 0;
  for (int ms = 100; ms <= 500; ms += 20) {
    Way way(behaviour);
    const FoundWay found = way.find(ms / 1e3);
    if (!found.way) continue;
    EXPECT_THAT(found.way->steps.front().note, "")
        << "the first configuration is checked before the time limit";
    EXPECT_THAT(found.way->steps.back().note, testing::Not(HasSubstr("not checked")));
    for (const WinnerStep& step : found.way->steps) {
      noted += step.note == "not checked: the time limit was reached" ? 1 : 0;
    }
  }
  EXPECT_GT(noted, 0);
  Way way(behaviour);
  const FoundWay whole = way.find();
  for (const WinnerStep& step : whole.way->steps) EXPECT_EQ(step.note, "");
}

TEST(WinnerWay, WherePairsFailTheTimesOfEachByItselfStand) {
  fake::DeviceBehaviour behaviour = timed_so();
  behaviour.compare = [](const fake::Program&, const fake::Program&) {
    PairResult pair;
    pair.rejection = Rejection{Gate::kTiming, "planted"};
    return pair;
  };
  Way way(behaviour);
  const WinnerWay found = way.find().way.value();
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_EQ(found.steps[1].pairs, 0);
  EXPECT_NEAR(found.steps[1].ratio, 0.495, 1e-9);
}

TEST(WinnerWay, WithoutTimeForTheStartThereIsNone) {
  Way way(timed_so());
  const FoundWay found = way.find(0.001);
  EXPECT_FALSE(found.way);
  EXPECT_THAT(found.why_not, HasSubstr("the time limit was reached"));
}

TEST(WinnerWay, OfAStartThatIsNotGreenThereIsNone) {
  Way way(timed_so());
  const FoundWay found = way.find(kAmple_s, {{way.space().defaults(), std::nullopt}});
  EXPECT_FALSE(found.way);
  EXPECT_EQ(found.why_not, "the default configuration is not green");
}

TEST(WinnerWay, WhatTheRunKnowsIsNotJudgedAgain) {
  const auto judged_again = [](const KnownTimes& known) {
    Way way(timed_so());
    const std::size_t before = way.world().device->requests().size();
    EXPECT_EQ(changes_of(*way.find(kAmple_s, known).way).front(), "OTHER 0 1");
    const auto& requests = way.world().device->requests();
    return std::count_if(requests.begin() + static_cast<std::ptrdiff_t>(before), requests.end(),
                         [](const std::string& request) {
                           return request.find("OTHER=1") != std::string::npos &&
                                  request.find("ITEMS=1") != std::string::npos &&
                                  request.find("THREADS=64") != std::string::npos;
                         });
  };
  Way any(timed_so());
  Candidate first = any.space().defaults();
  first.choice[3] = 1;
  EXPECT_EQ(judged_again({}), 2) << "the configuration is timed and checked";
  EXPECT_EQ(judged_again({{any.space().defaults(), 100.0}, {first, 50.0}}), 0);
}

TEST(WinnerWay, SomebodyWhoAsksForItEndsIt) {
  Way way(timed_so());
  const std::atomic<bool> asked{true};
  way.world().bench->loop().stop_when({&asked});
  try {
    (void)way.find();
    FAIL() << "no exception was thrown";
  } catch (const Interrupted& interrupted) {
    EXPECT_FALSE(interrupted.out_of_time());
  }
}

}  // namespace
}  // namespace evo
