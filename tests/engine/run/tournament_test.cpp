// Tests how kernels enter and leave the elite, with fake compilers, devices and store.

#include "engine/run/tournament.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

TEST(Tournament, AKernelThatFailsBesideOthersAndAloneLeavesTheElite) {
  fake::MemoryStore store;
  std::string best;  // THREADS/ITEMS of the kernel that fails
  bool fails = false;
  fake::DeviceBehaviour behaviour;
  const auto key = [](const fake::Program& program) {
    return std::to_string(program.number("THREADS", 0)) + "/" +
           std::to_string(program.number("ITEMS", 0));
  };
  behaviour.time_us = [&](const fake::Program& program) {
    return 10 + program.number("THREADS", 0) / 100 + program.number("ITEMS", 0);
  };
  behaviour.compare = [&](const fake::Program& a,
                          const fake::Program&) -> std::variant<PairResult, WorkerFailure> {
    if (best.empty()) best = key(a);
    fails = true;
    return WorkerFailure{"took its process down"};
  };
  behaviour.check =
      [&](const fake::Program& program) -> std::variant<CorrectnessResult, WorkerFailure> {
    if (fails && key(program) == best) return WorkerFailure{"took its process down"};
    return CorrectnessResult{{CheckResult{"mission", 1}}};
  };
  World world(store, behaviour);
  (void)run_all(world, store, options_for(2, 8));
  const auto withdrawals = store.withdrawals(kRun);
  ASSERT_FALSE(withdrawals.empty());
  for (const StoredGeneration& generation : store.generations()) {
    for (const CandidateId entry : generation.record.elite) {
      EXPECT_NE(entry, withdrawals.front().candidate);
    }
  }
}

/// A device on which every kernel passes its quick check, but kernels with 128 threads fail the
/// full check.
fake::DeviceBehaviour full_check_fails_some() {
  fake::DeviceBehaviour behaviour = quickly_checked_kernels();
  behaviour.full_check = [](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}, CheckResult{"mission", 2}}};
    if (program.number("THREADS", 0) == 128) {
      result.rejection = Rejection{Gate::kCorrectness, "wrong on seed 2"};
    }
    return result;
  };
  return behaviour;
}

TEST(Tournament, OnlyWhoWouldEnterIsCheckedFully) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour = quickly_checked_kernels();
  int full_checks = 0;
  behaviour.full_check = [&](const fake::Program&) {
    ++full_checks;
    return CorrectnessResult{{CheckResult{"mission", 1}, CheckResult{"mission", 2}}};
  };
  behaviour.time_us = [](const fake::Program&) { return 10.0; };  // all times are equal
  World world(store, behaviour);
  (void)run_all(world, store, options_for(3, 8));
  EXPECT_GT(store.comparisons(kRun).size(), 6U);
  EXPECT_EQ(full_checks, 3) << "only the three members of the elite are checked fully";
}

TEST(Tournament, NoKernelEntersTheEliteOnAQuickCheckAlone) {
  fake::MemoryStore store;
  World world(store, full_check_fails_some(), {.space = "distinct"});
  (void)run_all(world, store, options_for(12, 8));
  ASSERT_FALSE(store.withdrawals(kRun).empty());
  for (const WithdrawalRecord& withdrawal : store.withdrawals(kRun)) {
    EXPECT_EQ(withdrawal.why.reason, "wrong on seed 2");
    EXPECT_THAT(store.evaluation(withdrawal.candidate).config_json, HasSubstr("\"THREADS\":128"));
  }
  std::size_t members = 0;
  for (const StoredGeneration& generation : store.generations()) {
    for (const CandidateId entry : generation.record.elite) {
      const EvaluationRecord& record = store.evaluation(entry);
      EXPECT_THAT(record.config_json, testing::Not(HasSubstr("\"THREADS\":128")));
      EXPECT_EQ(record.checks.size(), 2U) << "the stored checks are those of the full check";
      ++members;
    }
  }
  EXPECT_GT(members, 3U);
  std::size_t full = 0;
  for (const std::string& request : world.device->requests()) {
    full += request.starts_with("full check") ? 1 : 0;
  }
  EXPECT_LT(full, store.evaluations().size() / 2)
      << "only kernels that may enter the elite are checked fully";
}

TEST(Tournament, AQuicklyCheckedRunThatWasKilledEndsAsTheOneThatWasNot) {
  fake::MemoryStore whole;
  World world(whole, full_check_fails_some(), {.space = "distinct"});
  const TunerOptions options = options_for(3, 8);
  ASSERT_EQ(run_all(world, whole, options), TunerEnd::kFinished);
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    const auto run_until_killed = [&] {
      World killed(store, full_check_fails_some(), {.compiler_seed = write, .space = "distinct"});
      (void)run_all(killed, store, options);
    };
    EXPECT_THROW(run_until_killed(), DbError);
    store.fail_at(0);
    World resumed(store, full_check_fails_some(), {.compiler_seed = write, .space = "distinct"});
    EXPECT_EQ(run_all(resumed, store, options), TunerEnd::kFinished);
    EXPECT_EQ(story(store), story(whole)) << "killed at write " << write;
  }
}

}  // namespace
}  // namespace evo
