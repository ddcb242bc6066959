// Tests the end of a run that reaches its time limit, is stopped, or loses its last compiler or
// device. Compilers, devices and store are fakes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "engine/core/error.hpp"
#include "engine/run/tuner.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

TEST(Tuner, OutOfTimeBeforeTheFirstComparisonTheFastestGreenKernelWins) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour = quickly_checked_kernels();
  behaviour.check_ms = 300;  // more than the 240 ms that the run reserves for comparisons
  World world(store, behaviour, {.space = "distinct"});
  TunerOptions options = options_for(20, 8);
  options.max_seconds = 1.2;
  SilentObserver observer;
  Tuner tuner(*world.bench, store, {kRun}, options, observer);
  static const std::atomic<bool> never{false};
  EXPECT_EQ(tuner.run({}, never), TunerEnd::kOutOfTime);
  ASSERT_EQ(tuner.elite().members().size(), 1U);
  double fastest_us = tuner.elite().members().front().p50_us;
  for (const EvaluationRecord& stored : store.evaluations()) {
    if (stored.timing && stored.timing->complete) {
      EXPECT_LE(fastest_us, stored.timing->p50_us);
    }
  }
  EXPECT_EQ(store.evaluation(tuner.elite().members().front().id).checks.size(), 2U)
      << "fully checked";
  EXPECT_EQ(store.generations().back().record.elite.size(), 1U);
}

TEST(Tuner, IsOutOfTimeWithinOneLaunchAndKeepsWhatItFound) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour;
  behaviour.check_ms = 400;
  behaviour.time_ms = 400;
  behaviour.compare_ms = 700;
  behaviour.time_us = [](const fake::Program&) { return 10.0; };  // all times are equal
  World world(store, behaviour);
  TunerOptions options = options_for(100, 8);
  options.offspring = 40;
  options.max_seconds = 9.5;
  const SteadyTime start = world.loop->now();
  SilentObserver observer;
  Tuner tuner(*world.bench, store, {kRun}, options, observer);
  static const std::atomic<bool> never{false};
  EXPECT_EQ(tuner.run({}, never), TunerEnd::kOutOfTime);
  EXPECT_LE(milliseconds_between(start, world.loop->now()), 9510);
  EXPECT_FALSE(tuner.elite().members().empty());
  EXPECT_EQ(store.generations().size(), 1U) << "the unfinished generation is stored";
  EXPECT_GE(world.device->abandoned(), 1U);
  EXPECT_GT(tuner.progress().left_out, 0U);
  EXPECT_LT(tuner.progress().left_out, tuner.progress().green);
}

TEST(Tuner, WhenTimeEndsWithinATournamentNobodyEntersTwice) {
  // The time limit ends the run at different moments of the A/B comparisons.
  for (double seconds = 8; seconds < 60; seconds += 1.7) {
    fake::MemoryStore store;
    fake::DeviceBehaviour behaviour;
    behaviour.check_ms = 100;
    behaviour.time_ms = 100;
    behaviour.compare_ms = 3000;
    behaviour.time_us = [](const fake::Program& program) {
      return 10 - program.number("THREADS", 0) / 1e4;
    };
    World world(store, behaviour);
    TunerOptions options = options_for(100, 8);
    options.max_seconds = seconds;
    SilentObserver observer;
    Tuner tuner(*world.bench, store, {kRun}, options, observer);
    static const std::atomic<bool> never{false};
    (void)tuner.run({}, never);
    std::set<CandidateId> members;
    for (const EliteMember& member : tuner.elite().members()) members.insert(member.id);
    EXPECT_EQ(members.size(), tuner.elite().members().size()) << seconds;
    std::set<std::tuple<int, CandidateId, CandidateId>> comparisons;
    for (const ComparisonRecord& comparison : store.comparisons(kRun)) {
      EXPECT_TRUE(
          comparisons.emplace(comparison.generation, comparison.challenger, comparison.incumbent)
              .second)
          << "the same comparison was made twice; time limit in s: " << seconds;
    }
  }
}

/// Records the time at which the last candidate was evaluated, in seconds since the start of the
/// run.
class LastOutcome final : public TunerObserver {
 public:
  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override {
    (void)evaluated;
    last_s_ = progress.elapsed_s;
  }
  void on_generation(const RunProgress& progress, const std::vector<ShapeElite>& elites) override {
    (void)progress;
    (void)elites;
  }
  double last_s_ = 0;
};

TEST(Tuner, QuickComparisonsLeaveTheTimeToTheSearch) {
  // A run reserves time for A/B comparisons. Until the first comparisons, it reserves a fifth of
  // the time limit, but at most 5 s. Later, it reserves twice the longest time that the comparisons
  // of one generation have taken, but between a tenth of the first reserve and the whole of it.
  for (const auto& [compare_ms, least_s, most_s] :
       {std::tuple(1.0, 3.7, 4.0), std::tuple(100.0, 2.0, 3.25)}) {
    fake::MemoryStore store;
    fake::DeviceBehaviour behaviour;
    behaviour.check_ms = 20;
    behaviour.time_ms = 20;
    behaviour.compare_ms = compare_ms;
    behaviour.time_us = [](const fake::Program&) { return 10.0; };  // all times are equal
    World world(store, behaviour, {.space = "distinct"});
    TunerOptions options = options_for(1000, 8);
    options.strategy = "random";
    options.max_seconds = 4;
    LastOutcome observer;
    Tuner tuner(*world.bench, store, {kRun}, options, observer);
    static const std::atomic<bool> never{false};
    EXPECT_EQ(tuner.run({}, never), TunerEnd::kOutOfTime);
    EXPECT_GE(observer.last_s_, least_s);
    EXPECT_LE(observer.last_s_, most_s);
    EXPECT_EQ(tuner.elite().members().size(), options.elite);
  }
}

TEST(Tuner, SomebodyMayAskForTheEndWhileTheLastKernelsAreCompared) {
  fake::MemoryStore store;
  static std::atomic<bool> stop{false};
  stop = false;
  const fake::FakeLoop* loop = nullptr;
  SteadyTime start;
  fake::DeviceBehaviour behaviour;
  behaviour.check_ms = 100;
  behaviour.time_ms = 100;
  behaviour.compare_ms = 3000;
  behaviour.time_us = [](const fake::Program&) { return 10.0; };  // all times are equal
  behaviour.compare = [&](const fake::Program&, const fake::Program&) {
    // The run reserves a fifth of its 20 s for comparisons, so the search may last until 16 s, and
    // a stop after 15 s comes during the last comparisons.
    stop = loop->now() > start + std::chrono::seconds(15);
    PairResult pair;
    pair.ratio = 1;
    pair.interval = {0.99, 1.01};
    return pair;
  };
  World world(store, behaviour);
  loop = world.loop;
  start = loop->now();
  TunerOptions options = options_for(100, 8);
  options.offspring = 40;
  options.max_seconds = 20;
  SilentObserver observer;
  Tuner tuner(*world.bench, store, {kRun}, options, observer);
  EXPECT_EQ(tuner.run({}, stop), TunerEnd::kInterrupted);
  EXPECT_GT(loop->now(), start + std::chrono::seconds(15));
}

TEST(Tuner, StopsAtOnceWhenAskedAndGoesOnLater) {
  fake::MemoryStore whole;
  World world(whole);
  ASSERT_EQ(run_all(world, whole, options_for(4, 8)), TunerEnd::kFinished);
  fake::MemoryStore store;
  std::atomic<bool> stop{false};
  int checks = 0;
  fake::DeviceBehaviour behaviour;
  behaviour.check = [&](const fake::Program&) {
    if (++checks == 9) stop = true;
    return CorrectnessResult{{CheckResult{"mission", 1}}};
  };
  {
    World stopped(store, behaviour);
    SilentObserver observer;
    Tuner tuner(*stopped.bench, store, {kRun}, options_for(4, 8), observer);
    EXPECT_EQ(tuner.run({}, stop), TunerEnd::kInterrupted);
    EXPECT_EQ(stopped.device->abandoned(), 1U) << "the running launch is abandoned";
    EXPECT_EQ(checks, 9);
  }
  World resumed(store);
  EXPECT_EQ(run_all(resumed, store, options_for(4, 8)), TunerEnd::kFinished);
  EXPECT_EQ(story(store), story(whole));
}

TEST(Tuner, WhatWasRecordedBeforeTheMachineFailedIsKept) {
  constexpr int kJudged = 12;
  fake::DeviceBehaviour behaviour;
  int checks = 0;
  behaviour.check = [&](const fake::Program&) -> std::variant<CorrectnessResult, WorkerFailure> {
    if (++checks > kJudged) throw MissingError("the device is gone");
    return CorrectnessResult{{CheckResult{"mission", 1}}};
  };
  fake::MemoryStore store;
  World world(store, behaviour, {.space = "distinct"});
  EXPECT_THROW((void)run_all(world, store, options_for(4, 8)), MissingError);
  // The outcomes before the loss of the device are stored, except for up to seven candidates that
  // were still being evaluated.
  EXPECT_LE(store.evaluations().size(), static_cast<std::size_t>(kJudged));
  EXPECT_GT(store.evaluations().size() + 8, static_cast<std::size_t>(kJudged));
}

TEST(Tuner, WhenTimeEndsWhatIsFinishedBehindOneThatIsNotIsRecorded) {
  int gaps = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    fake::MemoryStore store;
    World world(store, quickly_checked_kernels(), {.compiler_seed = seed, .space = "distinct"});
    world.compilers->longest_ms = 2000;
    TunerOptions options = options_for(20, 16);
    options.strategy = "random";
    options.offspring = 60;  // all in the first generation
    options.max_seconds = 2.5;
    SilentObserver observer;
    Tuner tuner(*world.bench, store, {kRun}, options, observer);
    static const std::atomic<bool> never{false};
    EXPECT_EQ(tuner.run({}, never), TunerEnd::kOutOfTime);
    const std::vector<EvaluationRecord> stored = store.evaluations();
    EXPECT_EQ(tuner.progress().evaluated, stored.size());
    EXPECT_FALSE(tuner.elite().members().empty());
    if (stored.back().position + 1 > static_cast<int>(stored.size())) ++gaps;

    // When a run that reached its time limit is extended, it evaluates the candidates that were
    // missing.
    options.max_seconds = 1e6;
    options.generations = 1;
    World later(store, quickly_checked_kernels(), {.space = "distinct"});
    EXPECT_EQ(run_all(later, store, options), TunerEnd::kFinished);
    std::set<int> positions;
    for (const EvaluationRecord& one : store.evaluations()) {
      positions.insert(one.position);
    }
    EXPECT_EQ(*positions.rbegin() + 1, static_cast<int>(positions.size()));
    EXPECT_EQ(store.evaluations().size(), positions.size());
  }
  EXPECT_GT(gaps, 4);
}

TEST(Tuner, TimeMayEndAnywhereAlsoWhileAKernelIsTimedAgain) {
  // Kernels with OTHER below 4 turn out to be wrong, so they leave the elite, and slower kernels
  // are timed again.
  fake::DeviceBehaviour behaviour = quickly_checked_kernels();
  behaviour.stops_checks = true;
  behaviour.check = {};
  behaviour.time_ms = 40;
  behaviour.compare = [](const fake::Program& first, const fake::Program&) {
    PairResult result;
    result.failed_first = first.number("OTHER", 0) < 4;
    if (result.failed_first) result.rejection = Rejection{Gate::kCorrectness, "wrong at last"};
    return result;
  };
  behaviour.full_check = [](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    if (program.number("OTHER", 0) < 4) result.rejection = Rejection{Gate::kCorrectness, "wrong"};
    return result;
  };
  bool was_timed_again = false;
  for (double seconds = 1; seconds < 9; seconds += 0.07) {
    fake::MemoryStore store;
    World world(store, behaviour, {.space = "distinct"});
    TunerOptions options = options_for(50, 16);
    options.strategy = "random";
    options.max_seconds = seconds;
    SilentObserver observer;
    Tuner tuner(*world.bench, store, {kRun}, options, observer);
    static const std::atomic<bool> never{false};
    EXPECT_NE(tuner.run({}, never), TunerEnd::kInterrupted);
    EXPECT_EQ(tuner.progress().evaluated, store.evaluations().size());
    std::multiset<std::string> checked;
    for (const std::string& request : world.device->requests()) {
      if (request.starts_with("time ")) checked.insert(request);
    }
    const auto is_again = [&](const std::string& request) { return checked.count(request) > 1; };
    was_timed_again = was_timed_again || std::ranges::any_of(checked, is_again);
  }
  EXPECT_TRUE(was_timed_again);
}

}  // namespace
}  // namespace evo
