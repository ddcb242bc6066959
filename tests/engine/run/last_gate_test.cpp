// Tests gates that judge the elite after the search: which kernels leave the elite, which kernels
// replace them, and the effect of killing the process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/core/error.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::size_t kPlaces = 3;

/// A gate that rejects the kernels whose configuration, written as JSON, contains `text`.
LastGate against(World& world, const std::string& text) {
  return {Gate::kProfile,
          [&world, text](std::size_t, const EliteMember& member) -> std::optional<LastVerdict> {
            const std::string config = world.task().space().config_json(member.candidate);
            if (config.find(text) == std::string::npos) return LastVerdict{};
            return LastVerdict{Rejection{Gate::kProfile, text + " is not wanted"}};
          }};
}

/// Makes a whole run or the rest of a resumed run; the elite of each shape can then be judged.
class Held {
 public:
  Held(World& world, fake::MemoryStore& store, const TunerOptions& options) {
    std::vector<RunId> runs;
    std::vector<RunHistory> histories;
    for (std::size_t shape = 0; shape < world.task().shape_count(); ++shape) {
      runs.push_back(kRun + static_cast<RunId>(shape));
      histories.emplace_back(store.evaluations(runs.back()), store.generations(runs.back()));
    }
    tuner_ = std::make_unique<Tuner>(*world.bench, store, runs, options, observer_);
    EXPECT_EQ(tuner_->run(std::move(histories), never_), TunerEnd::kFinished);
  }
  Tuner& tuner() { return *tuner_; }

 private:
  SilentObserver observer_;
  const std::atomic<bool> never_{false};
  std::unique_ptr<Tuner> tuner_;
};

std::vector<std::string> last_elite(const fake::MemoryStore& store, RunId run = kRun) {
  std::vector<std::string> configs;
  const std::vector<StoredGeneration> generations = store.generations(run);
  for (const CandidateId entry : generations.back().record.elite) {
    configs.push_back(store.evaluation(entry).config_json);
  }
  return configs;
}

TEST(LastGate, WhoFailsLeavesAndTheNextInLineTakesItsPlace) {
  fake::MemoryStore store;
  World world(store, quickly_checked_kernels(), {.space = "distinct"});
  Held held(world, store, options_for(4, 8));
  const std::string unwanted = "\"ITEMS\":1,";
  ASSERT_THAT(last_elite(store), testing::Contains(HasSubstr(unwanted)));
  held.tuner().hold_elite(0, against(world, unwanted));
  const std::vector<EliteMember>& members = held.tuner().elite().members();
  ASSERT_THAT(members, SizeIs(kPlaces));
  EXPECT_THAT(last_elite(store), testing::Each(Not(HasSubstr(unwanted))));
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(store.generations().back().record.elite.at(i), members[i].id);
    EXPECT_EQ(store.evaluation(members[i].id).checks.size(), 2U) << "fully checked";
  }
  EXPECT_TRUE(std::ranges::is_sorted(members, {}, &EliteMember::p50_us));
  ASSERT_THAT(store.withdrawals(kRun), Not(IsEmpty()));
  for (const WithdrawalRecord& withdrawal : store.withdrawals(kRun)) {
    EXPECT_EQ(withdrawal.why.gate, Gate::kProfile);
    EXPECT_THAT(store.evaluation(withdrawal.candidate).config_json, HasSubstr(unwanted));
  }
}

TEST(LastGate, WhereAllFailTheEliteIsEmptyAfterAFewForEachPlace) {
  fake::MemoryStore store;
  World world(store, quickly_checked_kernels(), {.space = "distinct"});
  Held held(world, store, options_for(4, 8));
  std::vector<double> times;
  const auto rejects = [&](std::size_t rank, const EliteMember& member) {
    EXPECT_EQ(rank, 0U);
    times.push_back(member.p50_us);
    return LastVerdict{Rejection{Gate::kProfile, "idle"}};
  };
  held.tuner().hold_elite(0, {Gate::kProfile, rejects});
  EXPECT_THAT(times, SizeIs(4 * kPlaces));
  EXPECT_TRUE(std::is_sorted(times.begin() + kPlaces, times.end()))
      << "the fastest remaining kernel is judged next";
  EXPECT_THAT(held.tuner().elite().members(), IsEmpty());
  EXPECT_THAT(last_elite(store), IsEmpty());
  EXPECT_THAT(store.withdrawals(kRun), SizeIs(4 * kPlaces));
}

TEST(LastGate, WhereItCannotTellNothingChanges) {
  fake::MemoryStore store;
  World world(store, quickly_checked_kernels(), {.space = "distinct"});
  Held held(world, store, options_for(2, 8));
  const std::size_t writes = store.writes();
  const std::vector<std::string> before = last_elite(store);
  int asked = 0;
  const auto cannot_tell = [&](std::size_t, const EliteMember&) -> std::optional<LastVerdict> {
    ++asked;
    return std::nullopt;
  };
  held.tuner().hold_elite(0, {Gate::kProfile, cannot_tell});
  EXPECT_EQ(asked, 1);
  held.tuner().hold_elite(0, against(world, "nothing has this"));
  EXPECT_EQ(store.writes(), writes);
  EXPECT_EQ(last_elite(store), before);
}

TEST(LastGate, AKillAtAnyWriteChangesNothing) {
  const TunerOptions options = options_for(2, 8);
  const std::string unwanted = "\"THREADS\":64";
  const auto run = [&](fake::MemoryStore& store, std::size_t seed) {
    World world(store, quickly_checked_kernels(), {.compiler_seed = seed, .space = "distinct"});
    Held held(world, store, options);
    held.tuner().hold_elite(0, against(world, unwanted));
  };
  fake::MemoryStore whole;
  run(whole, 1);
  ASSERT_THAT(whole.withdrawals(kRun), Not(IsEmpty()));
  const auto withdrawn = [](const fake::MemoryStore& store) {
    std::set<CandidateId> ids;
    for (const WithdrawalRecord& one : store.withdrawals(kRun)) ids.insert(one.candidate);
    return ids;
  };
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    EXPECT_THROW(run(store, write), DbError);
    store.fail_at(0);
    run(store, write);
    EXPECT_EQ(story(store), story(whole)) << "killed at write " << write;
    EXPECT_EQ(withdrawn(store), withdrawn(whole)) << "killed at write " << write;
  }
}

TEST(LastGate, WhatIsCountedOnOneShapeSaysNothingOfAnother) {
  fake::MemoryStore store;
  const TunerOptions options = options_for(2, 8);
  const auto run = [&] {
    World world(store, quickly_checked_kernels(),
                {.space = "distinct", .shapes = "mission,ragged"});
    Held held(world, store, options);
    const std::string unwanted = "\"ITEMS\":1,";
    held.tuner().hold_elite(0, against(world, unwanted));
    EXPECT_THAT(last_elite(store, kRun), testing::Each(Not(HasSubstr(unwanted))));
    EXPECT_THAT(last_elite(store, kRun + 1), testing::Contains(HasSubstr(unwanted)));
    EXPECT_THAT(store.withdrawals(kRun), Not(IsEmpty()));
    EXPECT_THAT(store.withdrawals(kRun + 1), IsEmpty());
  };
  run();
  run();  // resumed: all candidates are stored
}

}  // namespace
}  // namespace evo
