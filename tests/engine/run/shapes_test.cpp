// Tests a search for several shapes at once, with fake compilers and a fake device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "tests/fakes/fake_world.hpp"
#include "tests/fakes/planted_kernels.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr RunId kMission = 1;
constexpr RunId kRagged = 2;

/// The time of a kernel in µs. Kernels with 64 threads are fastest on the shape "mission", kernels
/// with 256 threads on the ragged shape.
double time_on(const fake::Program& program, const std::string& shape) {
  const double best = shape == "mission" ? 64 : 256;
  const double off = std::log2(program.number("THREADS", best) / best);
  return 5 + off * off + 0.3 * program.number("ITEMS", 1);
}

fake::DeviceBehaviour by_shape() {
  fake::DeviceBehaviour behaviour;
  behaviour.time_us_on = time_on;
  return behaviour;
}

std::size_t count(const World& world, const std::string& request) {
  std::size_t found = 0;
  for (const std::string& made : world.device->requests()) {
    found += made.starts_with(request) ? 1U : 0U;
  }
  return found;
}

TEST(Shapes, ACandidateIsCompiledAndCheckedOnceAndTimedOnEach) {
  fake::MemoryStore store;
  World world(store, by_shape(), {.space = "distinct", .shapes = "mission,ragged"});
  ASSERT_EQ(world.task().shape_count(), 2U);
  ASSERT_EQ(run_all(world, store, options_for(4, 8)), TunerEnd::kFinished);
  const std::size_t evaluated = store.evaluations(kMission).size();
  EXPECT_EQ(evaluated, 25U)
      << "the default configuration and six candidates per generation for both shapes together";
  EXPECT_EQ(store.evaluations(kRagged).size(), evaluated);
  EXPECT_EQ(world.compilers->submitted(), evaluated + 1) << "the reference is compiled, too";
  EXPECT_EQ(count(world, "check "), evaluated);
  EXPECT_EQ(count(world, "time mission"), count(world, "time ragged"));
}

TEST(Shapes, EachHasTheEliteOfItsOwnTimes) {
  fake::MemoryStore store;
  World world(store, by_shape(), {.space = "distinct", .shapes = "mission,ragged"});
  ASSERT_EQ(run_all(world, store, options_for(8, 8)), TunerEnd::kFinished);
  for (const RunId run : {kMission, kRagged}) {
    const std::vector<StoredGeneration> generations = store.generations(run);
    ASSERT_EQ(generations.size(), 8U);
    const auto& elite = generations.back().record.elite;
    ASSERT_EQ(elite.size(), 3U);
    double best = 1e9;
    for (const EvaluationRecord& evaluation : store.evaluations(run)) {
      if (evaluation.timing) best = std::min(best, evaluation.timing->p50_us);
    }
    EXPECT_DOUBLE_EQ(store.evaluation(elite.front()).timing->p50_us, best);
    EXPECT_THAT(store.evaluation(elite.front()).config_json,
                HasSubstr(run == kMission ? "\"THREADS\":64" : "\"THREADS\":256"));
  }
  EXPECT_GT(count(world, "compare mission"), 0U);
  EXPECT_GT(count(world, "compare ragged"), 0U);
}

TEST(Shapes, WhatAShapeDoesNotAllowIsNotJudgedThere) {
  fake::MemoryStore store;
  // On the ragged shape, the constraints allow at most two elements per thread (ITEMS).
  World world(store, by_shape(), {.space = "by_shape", .shapes = "mission,ragged"});
  ASSERT_EQ(run_all(world, store, options_for(8, 8)), TunerEnd::kFinished);
  const auto mission = store.evaluations(kMission);
  const auto ragged = store.evaluations(kRagged);
  EXPECT_GT(mission.size(), ragged.size());
  EXPECT_FALSE(ragged.empty());
  for (const EvaluationRecord& evaluation : ragged) {
    EXPECT_LE(read_json(evaluation.config_json).at("ITEMS"), 2);
  }
  const bool has_more = std::ranges::any_of(mission, [](const EvaluationRecord& evaluation) {
    return read_json(evaluation.config_json).at("ITEMS") > 2;
  });
  EXPECT_TRUE(has_more) << "the strategy of shape 'mission' proposes larger ITEMS";
}

TEST(Shapes, AKernelThatIsWrongIsRejectedOnAll) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour = by_shape();
  behaviour.check =
      [](const fake::Program& program) -> std::variant<CorrectnessResult, WorkerFailure> {
    if (program.number("ITEMS", 1) != 4) return CorrectnessResult{{CheckResult{"ragged", 1}}};
    return CorrectnessResult{{}, Rejection{Gate::kCorrectness, "planted: wrong on one shape", {}}};
  };
  World world(store, behaviour, {.space = "distinct", .shapes = "mission,ragged"});
  ASSERT_EQ(run_all(world, store, options_for(8, 8)), TunerEnd::kFinished);
  int rejected = 0;
  for (const RunId run : {kMission, kRagged}) {
    for (const EvaluationRecord& evaluation : store.evaluations(run)) {
      const bool is_wrong = read_json(evaluation.config_json).at("ITEMS") == 4;
      EXPECT_EQ(evaluation.rejection.has_value(), is_wrong);
      rejected += is_wrong ? 1 : 0;
    }
  }
  EXPECT_GT(rejected, 0);
}

/// A device on which kernels with two elements per thread pass their quick check, fail their first
/// full check, and pass later full checks.
fake::DeviceBehaviour fails_once(std::map<std::string, int>& full_checks) {
  fake::DeviceBehaviour behaviour = by_shape();
  behaviour.check = [](const fake::Program&) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    result.complete = false;
    return result;
  };
  behaviour.full_check = [&](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    const bool is_first = ++full_checks[to_ptx(program)] == 1;
    if (is_first && program.number("ITEMS", 1) == 2) {
      result.rejection = Rejection{Gate::kCorrectness, "planted: wrong once", {}};
    }
    return result;
  };
  return behaviour;
}

TEST(Shapes, WhatIsWithdrawnFromOneEliteIsFromAll) {
  fake::MemoryStore store;
  std::map<std::string, int> full_checks;
  World world(store, fails_once(full_checks), {.space = "distinct", .shapes = "mission,ragged"});
  ASSERT_EQ(run_all(world, store, options_for(8, 8)), TunerEnd::kFinished);
  const auto kernels = [&](RunId run) {
    std::set<std::string> withdrawn;
    for (const WithdrawalRecord& one : store.withdrawals(run)) {
      withdrawn.insert(store.evaluation(one.candidate).config_json);
    }
    return withdrawn;
  };
  EXPECT_FALSE(kernels(kMission).empty());
  EXPECT_EQ(kernels(kMission), kernels(kRagged));
  for (const RunId run : {kMission, kRagged}) {
    const std::vector<CandidateId> elite = store.generations(run).back().record.elite;
    for (const CandidateId entry : elite) {
      EXPECT_NE(read_json(store.evaluation(entry).config_json).at("ITEMS"), 2);
    }
  }
  for (const auto& [kernel, times] : full_checks) EXPECT_EQ(times, 1) << kernel;
}

TEST(Shapes, AWithdrawalSurvivesAKillAnywhere) {
  std::map<std::string, int> unused;
  fake::MemoryStore whole;
  World world(whole, fails_once(unused), {.space = "distinct", .shapes = "mission,ragged"});
  const TunerOptions options = options_for(3, 8);
  ASSERT_EQ(run_all(world, whole, options), TunerEnd::kFinished);
  ASSERT_FALSE(whole.withdrawals(kRagged).empty());
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    std::map<std::string, int> full_checks;
    try {
      World killed(store, fails_once(full_checks),
                   {.compiler_seed = write, .space = "distinct", .shapes = "mission,ragged"});
      (void)run_all(killed, store, options);
      FAIL() << "write " << write << " did not fail";
    } catch (const DbError&) {
      // The exception simulates a kill of the process, after which only the database remains. If
      // the first failure of a kernel is not stored, the kernel must fail again, so `full_checks`
      // is cleared below.
    }
    store.fail_at(0);
    full_checks.clear();
    World resumed(store, fails_once(full_checks),
                  {.compiler_seed = write + 1, .space = "distinct", .shapes = "mission,ragged"});
    EXPECT_EQ(run_all(resumed, store, options), TunerEnd::kFinished);
    for (const RunId run : {kMission, kRagged}) {
      EXPECT_EQ(outcomes(store, run), outcomes(whole, run)) << "killed at write " << write;
      EXPECT_EQ(store.withdrawals(run).size(), whole.withdrawals(run).size());
    }
  }
}

TEST(Shapes, ARunThatWasKilledAnywhereEndsAsTheOneThatWasNot) {
  fake::MemoryStore whole;
  World world(whole, by_shape(), {.space = "by_shape", .shapes = "mission,ragged"});
  const TunerOptions options = options_for(3, 8);
  ASSERT_EQ(run_all(world, whole, options), TunerEnd::kFinished);
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    try {
      World killed(store, by_shape(),
                   {.compiler_seed = write, .space = "by_shape", .shapes = "mission,ragged"});
      (void)run_all(killed, store, options);
      FAIL() << "write " << write << " did not fail";
    } catch (const DbError&) {
      // The exception simulates a kill of the process, after which only the database remains.
    }
    store.fail_at(0);
    World resumed(store, by_shape(),
                  {.compiler_seed = write + 1, .space = "by_shape", .shapes = "mission,ragged"});
    EXPECT_EQ(run_all(resumed, store, options), TunerEnd::kFinished);
    for (const RunId run : {kMission, kRagged}) {
      EXPECT_EQ(outcomes(store, run), outcomes(whole, run)) << "killed at write " << write;
    }
  }
}

TEST(Shapes, OneAloneSearchesAsBefore) {
  fake::MemoryStore alone;
  World world(alone, {}, {.shapes = "mission"});
  ASSERT_EQ(run_all(world, alone, options_for(4, 8)), TunerEnd::kFinished);
  fake::MemoryStore plain;
  World other(plain);
  ASSERT_EQ(run_all(other, plain, options_for(4, 8)), TunerEnd::kFinished);
  EXPECT_EQ(story(alone), story(plain));
}

TEST(Shapes, WhatIsKnownIsJudgedBehindTheDefaults) {
  fake::MemoryStore store;
  World world(store, by_shape(), {.space = "distinct"});
  TunerOptions options = options_for(2, 8);
  const Space& space = world.task().space();
  const std::vector<std::pair<std::string, std::string>> settings = {{"THREADS", "256"}};
  const Candidate known = space.candidate_from_settings(settings, space.defaults());
  options.known = {{known, 17}, {space.defaults(), 18}};
  ASSERT_EQ(run_all(world, store, options), TunerEnd::kFinished);
  EXPECT_EQ(store.evaluation(1).origin, "default");
  EXPECT_EQ(store.evaluation(2).origin, "warm start");
  EXPECT_EQ(store.evaluation(2).config_json, space.config_json(known));
  EXPECT_EQ(store.evaluation(3).origin, "full")
      << "the default configuration is evaluated only once";
}

TEST(Tuner, ARunThatWasOutOfTimeCanBeExtended) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour;
  behaviour.check_ms = 100;
  behaviour.time_ms = 100;
  TunerOptions options = options_for(2, 8);
  options.max_seconds = 2.2;
  {
    World world(store, behaviour);
    ASSERT_EQ(run_all(world, store, options), TunerEnd::kOutOfTime);
  }
  const std::size_t before = store.evaluations().size();
  ASSERT_LT(before, 13U);
  ASSERT_EQ(store.generations().size(), before > 7 ? 2U : 1U);
  options.max_seconds = std::numeric_limits<double>::infinity();
  options.generations = 4;
  World world(store, behaviour);
  EXPECT_EQ(run_all(world, store, options), TunerEnd::kFinished);
  EXPECT_EQ(store.evaluations().size(), 25U);
  ASSERT_EQ(store.generations().size(), 4U);
  double best = 1e9;
  for (const EvaluationRecord& evaluation : store.evaluations()) {
    if (evaluation.timing) best = std::min(best, evaluation.timing->p50_us);
  }
  const std::vector<CandidateId> elite = store.generations().back().record.elite;
  EXPECT_DOUBLE_EQ(store.evaluation(elite.front()).timing->p50_us, best);
}

}  // namespace
}  // namespace evo
