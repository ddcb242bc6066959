// Tests runs that make a recording (evaluate many candidates without an elite), with fake
// compilers, devices and store.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/core/error.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

TunerOptions recording_of(std::size_t candidates, std::uint64_t seed = 7) {
  TunerOptions options;
  options.aim = Aim::kRecord;
  options.strategy = "random";
  options.generations = std::numeric_limits<int>::max();
  options.candidates = candidates;
  options.offspring = 8;
  options.seed = seed;
  return options;
}

/// The events of a run, and the control's p50 and drift in each generation.
std::vector<std::string> story_with_control(const fake::MemoryStore& store) {
  std::vector<std::string> lines = story(store);
  for (const StoredGeneration& stored : store.generations()) {
    lines.push_back("control " + std::to_string(stored.record.control_p50_us.value_or(0)) + " " +
                    std::to_string(stored.record.control_drift.value_or(0)));
  }
  return lines;
}

std::vector<std::string> configurations(const fake::MemoryStore& store) {
  std::vector<std::string> found;
  for (const EvaluationRecord& stored : store.evaluations()) {
    found.push_back(stored.config_json);
  }
  return found;
}

/// A device on which each kernel is slower than all kernels before it. A search would stop the
/// timings of slower kernels early.
fake::DeviceBehaviour ever_slower() {
  auto count = std::make_shared<int>(0);
  fake::DeviceBehaviour behaviour;
  behaviour.time_us = [=](const fake::Program&) { return 10.0 * ++*count; };
  return behaviour;
}

TEST(Recording, SlowKernelsAreTimedAsCarefullyAsFastOnes) {
  fake::MemoryStore store;
  World world(store, ever_slower(), {.space = "distinct"});
  EXPECT_EQ(run_all(world, store, recording_of(60)), TunerEnd::kFinished);
  ASSERT_EQ(store.evaluations().size(), 60U);
  for (const EvaluationRecord& stored : store.evaluations()) {
    ASSERT_TRUE(stored.timing.has_value());
    EXPECT_TRUE(stored.timing->complete);
  }
  // A search, unlike a recording, stops the timings of slower kernels early.
  fake::MemoryStore searched;
  World other(searched, ever_slower(), {.space = "distinct"});
  (void)run_all(other, searched, options_for(5, 8));
  std::size_t given_up = 0;
  for (const EvaluationRecord& stored : searched.evaluations()) {
    given_up += stored.timing && !stored.timing->complete ? 1 : 0;
  }
  EXPECT_GT(given_up, 0U);
}

TEST(Recording, NothingIsComparedAndThereIsNoElite) {
  fake::MemoryStore store;
  World world(store, {}, {.space = "distinct"});
  (void)run_all(world, store, recording_of(40));
  for (const std::string& request : world.device->requests()) EXPECT_NE(request, "compare");
  EXPECT_EQ(store.generations().size(), 5U)
      << "the default configuration, then 39 candidates in generations of eight";
  for (const StoredGeneration& stored : store.generations()) {
    EXPECT_TRUE(stored.record.elite.empty());
    EXPECT_TRUE(stored.record.control_p50_us.has_value());
  }
  EXPECT_TRUE(store.withdrawals(kRun).empty());
}

TEST(Recording, TheDrawFollowsTheSeedAndHoldsTheDefaultsFirst) {
  std::vector<std::string> first;
  for (const std::uint64_t seed : {7U, 7U, 8U}) {
    fake::MemoryStore store;
    World world(store);
    (void)run_all(world, store, recording_of(50, seed));
    const std::vector<std::string> drawn = configurations(store);
    EXPECT_EQ(drawn.front(), world.task().space().config_json(world.task().space().defaults()));
    EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), 50U);
    if (first.empty()) first = drawn;
    EXPECT_EQ(drawn == first, seed == 7);
  }
}

TEST(Recording, MoreThanThereAreIsTheWholeSpace) {
  fake::MemoryStore store;
  World world(store, {}, {.space = "planted_comparisons"});
  EXPECT_EQ(run_all(world, store, recording_of(100000)), TunerEnd::kExhausted);
  const std::vector<std::string> all = configurations(store);
  EXPECT_DOUBLE_EQ(static_cast<double>(all.size()), world.task().space().count().value);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(Recording, OneThatWasKilledAnywhereEndsAsTheOneThatWasNot) {
  fake::MemoryStore whole;
  World world(whole);
  const TunerOptions options = recording_of(30);
  ASSERT_EQ(run_all(world, whole, options), TunerEnd::kFinished);
  const std::vector<std::string> expected = story_with_control(whole);
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    const auto begin = [&] {
      World killed(
          store, {},
          {.compiler_seed = write});  // stores the compiled reference, so it may throw, too
      (void)run_all(killed, store, options);
    };
    EXPECT_THROW(begin(), DbError);
    store.fail_at(0);
    World resumed(store, {}, {.compiler_seed = write + 1});
    EXPECT_EQ(run_all(resumed, store, options), TunerEnd::kFinished);
    EXPECT_EQ(story_with_control(store), expected) << "killed at write " << write;
  }
}

TEST(Recording, OutOfTimeItKeepsWhatItHasAndGoesOnLater) {
  fake::MemoryStore whole;
  World world(whole, {}, {.space = "distinct"});
  (void)run_all(world, whole, recording_of(50));
  fake::MemoryStore store;
  World short_of_time(store, {}, {.space = "distinct"});
  TunerOptions options = recording_of(50);
  options.max_seconds = 0.15;
  EXPECT_EQ(run_all(short_of_time, store, options), TunerEnd::kOutOfTime);
  EXPECT_GT(store.evaluations().size(), 3U);
  EXPECT_LT(store.evaluations().size(), 50U);
  World resumed(store, {}, {.compiler_seed = 2, .space = "distinct"});
  EXPECT_EQ(run_all(resumed, store, recording_of(50)), TunerEnd::kFinished);
  EXPECT_EQ(story(store), story(whole));
}

TEST(Recording, ALargerCountGoesOnWithTheSameDraw) {
  fake::MemoryStore whole;
  World world(whole);
  (void)run_all(world, whole, recording_of(45));
  fake::MemoryStore store;
  World small(store);
  (void)run_all(small, store, recording_of(20));
  EXPECT_EQ(store.evaluations().size(), 20U);
  World larger(store);
  EXPECT_EQ(run_all(larger, store, recording_of(45)), TunerEnd::kFinished);
  EXPECT_EQ(configurations(store), configurations(whole));
}

TEST(Recording, TheDriftIsThatOfTheDefaults) {
  fake::MemoryStore store;
  auto controls = std::make_shared<int>(0);
  fake::DeviceBehaviour behaviour;
  behaviour.time_us = [=](const fake::Program& program) {
    const bool is_default = program.number("THREADS", 0) == 64 && program.number("ITEMS", 0) == 1 &&
                            program.number("OTHER", 0) == 0;
    return is_default ? 10.0 + (*controls)++ : 50.0;
  };
  World world(store, behaviour, {.space = "distinct"});
  (void)run_all(world, store, recording_of(25));
  // The default kernel is timed first as a candidate, with 10 µs, and after each generation as the
  // control, with 11, 12 and 13 µs.
  std::vector<double> drifts;
  for (const StoredGeneration& stored : store.generations()) {
    drifts.push_back(stored.record.control_drift.value_or(-1));
  }
  EXPECT_THAT(drifts, testing::ElementsAre(0, testing::DoubleEq(12.0 / 11 - 1),
                                           testing::DoubleEq(13.0 / 11 - 1)));
}

TEST(Recording, WithoutGreenDefaultsTheFirstGreenCandidateIsTheControl) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour;
  behaviour.check = [&](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    const bool is_default = program.number("THREADS", 0) == 64 && program.number("ITEMS", 0) == 1 &&
                            program.number("OTHER", 0) == 0;
    if (is_default) result.rejection = Rejection{Gate::kCorrectness, "wrong"};
    return result;
  };
  World world(store, behaviour, {.space = "distinct"});
  (void)run_all(world, store, recording_of(9));
  ASSERT_EQ(store.generations().size(), 1U);
  EXPECT_EQ(store.generations()[0].record.control_p50_us,
            store.evaluation(2).timing.value().p50_us);
}

TEST(Recording, PredictedTimesHaveNoControl) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;
  World world(store, behaviour);
  EXPECT_EQ(run_all(world, store, recording_of(20)), TunerEnd::kFinished);
  for (const StoredGeneration& stored : store.generations()) {
    EXPECT_FALSE(stored.record.control_p50_us.has_value());
  }
}

}  // namespace
}  // namespace evo
