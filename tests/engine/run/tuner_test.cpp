// Tests the loop of a run with fakes: compilers that finish in any order, a device with scripted
// results, a clock that advances only while a coroutine waits, and a store in memory.

#include "engine/run/tuner.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/evolve/max_in_flight.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

TEST(Tuner, TheOrderInWhichCompilersFinishChangesNothing) {
  std::vector<std::string> first;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    fake::MemoryStore store;
    World world(store, {}, {.compiler_seed = seed});
    EXPECT_EQ(run_all(world, store, options_for(8, 16)), TunerEnd::kFinished);
    if (first.empty()) first = story(store);
    EXPECT_EQ(story(store), first) << "seed of the compilers: " << seed;
  }
  EXPECT_GT(first.size(), 8U * 6);
}

TEST(Tuner, NoMoreThanAllowedAreInFlight) {
  for (const std::size_t max_in_flight : {1U, 4U, 32U}) {
    fake::MemoryStore store;
    World world(store);
    TunerOptions options = options_for(20, max_in_flight);
    EXPECT_EQ(run_all(world, store, options), TunerEnd::kFinished);
    EXPECT_LE(world.compilers->most_at_once(), max_in_flight);
    const std::size_t slots = store.evaluations().size();
    EXPECT_GE(world.compilers->most_at_once() + 2, in_flight_at(slots - 1, max_in_flight))
        << "some compilations come from the database, and one candidate is on the device";
  }
}

/// A device on which slow kernels become fast and fast kernels become slow after `from` timings.
fake::DeviceBehaviour turning(int from) {
  auto count = std::make_shared<int>(0);
  fake::DeviceBehaviour behaviour;
  // Predicted times need no A/B comparisons and no control, so each candidate is timed once.
  behaviour.kind = TimeKind::kPredicted;
  behaviour.time_us = [=](const fake::Program& program) {
    const double time = 10 + program.number("THREADS", 0) / 100 + program.number("ITEMS", 0);
    return (*count)++ < from ? time : 100 - time;
  };
  return behaviour;
}

TEST(Tuner, ACandidateIsProposedFromWhatIsKnownBeforeThoseInFlight) {
  constexpr int kSame = 6;
  fake::MemoryStore one;
  fake::MemoryStore two;
  World first(one, turning(kSame));
  World second(two, turning(1000));
  (void)run_all(first, one, options_for(8, 4));
  (void)run_all(second, two, options_for(8, 4));
  const auto a = one.evaluations();
  const auto b = two.evaluations();
  std::size_t turned = 0;  // index of the first candidate whose outcome differs
  const auto time_of = [](const EvaluationRecord& stored) {
    return stored.timing ? stored.timing->p50_us : 0;
  };
  while (turned < a.size() && time_of(a[turned]) == time_of(b[turned])) ++turned;
  ASSERT_LT(turned, a.size());
  std::size_t same = 0;
  while (same < a.size() && a[same].config_json == b[same].config_json) ++same;
  std::size_t first_told = turned + 1;  // the first candidate that can depend on this outcome
  while (first_told - in_flight_at(first_told, 4) < turned) ++first_told;
  EXPECT_GE(same, first_told);
  EXPECT_LT(same, a.size()) << "different outcomes must lead to different proposals";
}

TEST(Tuner, ARunThatWasKilledAnywhereEndsAsTheOneThatWasNot) {
  fake::MemoryStore whole;
  World world(whole);
  const TunerOptions options = options_for(6, 8);
  ASSERT_EQ(run_all(world, whole, options), TunerEnd::kFinished);
  const std::vector<std::string> expected = story(whole);
  ASSERT_GT(whole.writes(), 60U);
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    try {
      World killed(store, {}, {.compiler_seed = write});
      (void)run_all(killed, store, options);
      FAIL() << "write " << write << " did not fail";
    } catch (const DbError&) {
      // The test keeps only the database, as if the process had been killed.
    }
    store.fail_at(0);
    World resumed(store, {}, {.compiler_seed = write + 1});
    EXPECT_EQ(run_all(resumed, store, options), TunerEnd::kFinished);
    EXPECT_EQ(story(store), expected) << "killed at write " << write;
  }
}

TEST(Tuner, ACompilationIsNotReadBackWithinItsEvaluation) {
  fake::MemoryStore store;
  World world(store);
  (void)run_all(world, store, options_for(5, 8));
  EXPECT_EQ(store.compilations_read(), 0U);
}

TEST(Tuner, WhatASearchBeginsWithIsCompiledWhileTheDeviceIsSetUp) {
  fake::MemoryStore one;
  fake::MemoryStore two;
  World plain(one);
  World ahead(two, {}, {.compiles_initial_population = true});
  EXPECT_GT(ahead.compilers->submitted(), plain.compilers->submitted());
  (void)run_all(plain, one, options_for(5, 8));
  (void)run_all(ahead, two, options_for(5, 8));
  EXPECT_EQ(story(two), story(one));
  EXPECT_EQ(ahead.compilers->submitted(), plain.compilers->submitted())
      << "nothing is compiled twice";
}

TEST(Tuner, CompilersWorkWhileTheDeviceComparesKernels) {
  const auto starved_ms = [](double compare_ms) {
    fake::MemoryStore store;
    fake::DeviceBehaviour behaviour;
    behaviour.compare_ms = compare_ms;
    behaviour.time_us = [](const fake::Program&) { return 10.0; };  // all times are equal
    World world(store, behaviour, {.space = "distinct"});
    world.compilers->longest_ms = 400;
    (void)run_all(world, store, options_for(20, 8));
    return world.bench->activity().times.starved_ms;
  };
  EXPECT_LT(starved_ms(50), starved_ms(0.1) / 2);
}

TEST(Tuner, WhileACompilerIsSlowTheDeviceTakesOthersAndTheirOutcomesWaitForTheirTurn) {
  fake::MemoryStore store;
  std::vector<std::string> measured;
  fake::DeviceBehaviour behaviour;
  behaviour.check = [&](const fake::Program& program) {
    measured.push_back(fmt::format("{}/{}/{}", program.number("THREADS", 0),
                                   program.number("ITEMS", 0), program.number("OTHER", 0)));
    return CorrectnessResult{{CheckResult{"mission", 1}}};
  };
  World world(store, behaviour, {.space = "distinct"});
  EXPECT_EQ(run_all(world, store, options_for(4, 16)), TunerEnd::kFinished);
  std::vector<std::string> recorded;
  std::vector<std::pair<int, int>> places;
  for (const EvaluationRecord& stored : store.evaluations()) {
    places.emplace_back(stored.generation, stored.position);
    if (!stored.timing || stored.duplicate_of) continue;
    const Json config = read_json(stored.config_json);
    recorded.push_back(fmt::format("{}/{}/{}", config.at("THREADS").get<double>(),
                                   config.at("ITEMS").get<double>(),
                                   config.at("OTHER").get<double>()));
  }
  EXPECT_TRUE(std::ranges::is_sorted(places));
  EXPECT_NE(measured, recorded);
  std::ranges::sort(measured);
  std::ranges::sort(recorded);
  EXPECT_EQ(measured, recorded);
}

TEST(Tuner, AKernelThatItsCheckShowsToBeSlowIsNotTimedAndTheEliteIsTheSame) {
  std::vector<std::vector<CandidateId>> elites;
  std::vector<std::ptrdiff_t> timed;
  for (const bool stops : {false, true}) {
    fake::MemoryStore store;
    fake::DeviceBehaviour behaviour = quickly_checked_kernels();
    behaviour.check = {};
    behaviour.stops_checks = stops;
    World world(store, behaviour, {.space = "distinct"});
    TunerOptions options = options_for(6, 8);
    options.strategy = "random";
    EXPECT_EQ(run_all(world, store, options), TunerEnd::kFinished);
    std::vector<CandidateId>& elite = elites.emplace_back();
    const std::vector<StoredGeneration> generations = store.generations();
    for (const CandidateId entry : generations.back().record.elite) {
      elite.push_back(entry);
    }
    timed.push_back(std::ranges::count_if(world.device->requests(), [](const std::string& request) {
      return request.starts_with("time ");
    }));
  }
  EXPECT_EQ(elites[1], elites[0]);
  EXPECT_EQ(elites[0].size(), 3U);
  EXPECT_LT(timed[1], timed[0] * 2 / 3);
}

TEST(Tuner, ASpaceWithoutMoreCandidatesEndsTheRun) {
  fake::MemoryStore store;
  World world(store, {}, {.space = "planted_comparisons"});
  TunerOptions options = options_for(1000, 16);
  options.strategy = "random";
  EXPECT_EQ(run_all(world, store, options), TunerEnd::kExhausted);
  std::set<std::string> configurations;
  for (const EvaluationRecord& stored : store.evaluations()) {
    configurations.insert(stored.config_json);
  }
  EXPECT_EQ(configurations.size(), store.evaluations().size())
      << "every configuration is evaluated once";
  EXPECT_DOUBLE_EQ(static_cast<double>(configurations.size()), world.task().space().count().value);
}

TEST(Tuner, TheStrategyHearsOfACompilerThatFailsAsOfAFailedBuild) {
  fake::MemoryStore store;
  World world(store, {}, {.space = "planted_comparisons"});
  TunerOptions options = options_for(12, 8);
  options.strategy = "random";
  (void)run_all(world, store, options);
  std::size_t unstored = 0;
  for (const EvaluationRecord& stored : store.evaluations()) {
    if (!stored.rejection || stored.rejection->gate != Gate::kBuild) continue;
    if (!stored.compilation) ++unstored;  // a temporary failure
  }
  EXPECT_GT(unstored, 0U);
}

}  // namespace
}  // namespace evo
