// Runs in which most candidates are only predicted, by fakes that know the times or do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "tests/engine/coordinator/fake_world.hpp"

namespace evo {
namespace {

double true_us(const fake::Program& program) {
  return 10 + program.number("THREADS", 0) / 100 + program.number("ITEMS", 0) +
         program.number("OTHER", 0) / 10;
}

fake::DeviceBehaviour card() {
  fake::DeviceBehaviour behaviour;
  behaviour.time_us = true_us;
  return behaviour;
}

using Times = std::function<double(const fake::Program&)>;

std::vector<fake::DeviceBehaviour> predictors(Times time_us) {
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;
  behaviour.time_us = std::move(time_us);
  fake::DeviceBehaviour slow = behaviour;
  slow.time_ms = 17;
  return {behaviour, slow};
}

std::vector<fake::DeviceBehaviour> good_predictors() {
  return predictors([](const fake::Program& program) { return 0.8 * true_us(program); });
}

/// Times that have nothing to do with the kernel's.
std::vector<fake::DeviceBehaviour> blind_predictors() {
  return predictors([](const fake::Program& program) {
    const double us = true_us(program) * 1e4;
    return 1 + static_cast<double>(static_cast<std::int64_t>(us) * 7919 % 1009);
  });
}

TunerOptions options_with_shortlist(int generations) {
  TunerOptions options = options_for(generations, 8);
  options.children = 3;
  options.shortlist = 4;
  return options;
}

std::size_t count_timed(const fake::MemoryStore& store) {
  return static_cast<std::size_t>(std::ranges::count_if(
      store.evaluations(),
      [](const StoredEvaluation& stored) { return stored.record.timing.has_value(); }));
}

TEST(ShortlistRun, TheDeviceGetsAFourthOfWhatIsProposed) {
  fake::MemoryStore store;
  World world(store, card(), 1, "distinct", "", 0, good_predictors());
  ASSERT_EQ(run_all(world, store, options_with_shortlist(10)), TunerEnd::kFinished);
  std::set<std::string> proposed;
  std::size_t returned = 0;
  for (const StoredEvaluation& stored : store.evaluations()) {
    proposed.insert(stored.record.config_json);
    returned += stored.record.origin == "shortlist" ? 1 : 0;
  }
  const std::size_t timed = count_timed(store);
  EXPECT_GT(returned, 10U);
  EXPECT_GT(timed, proposed.size() / 5);
  EXPECT_LT(timed, proposed.size() / 2) << "the first eight are all measured";
  const auto checks = std::ranges::count_if(world.device->requests(), [](const std::string& asked) {
    return asked.starts_with("check ");
  });
  EXPECT_EQ(static_cast<std::size_t>(checks), timed) << "the device hears of no other";
}

TEST(ShortlistRun, WhoIsQuickerChangesNothing) {
  std::vector<std::string> first;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    fake::MemoryStore store;
    World world(store, card(), seed, "distinct", "", 0, good_predictors());
    EXPECT_EQ(run_all(world, store, options_with_shortlist(5)), TunerEnd::kFinished);
    if (first.empty()) first = story(store);
    EXPECT_EQ(story(store), first) << "seed of the compilers: " << seed;
  }
}

TEST(ShortlistRun, KilledAnywhereEndsAsTheOneThatWasNot) {
  const auto run = [](fake::MemoryStore& store, std::uint64_t compilers) {
    World world(store, card(), compilers, "distinct", "", 0, good_predictors());
    return run_all(world, store, options_with_shortlist(4));
  };
  fake::MemoryStore whole;
  ASSERT_EQ(run(whole, 1), TunerEnd::kFinished);
  const std::vector<std::string> expected = story(whole);
  constexpr std::size_t kStep = 5;
  for (std::size_t write = 1; write <= whole.writes(); write += kStep) {
    fake::MemoryStore store;
    store.fail_at(write);
    EXPECT_THROW((void)run(store, write), DbError);
    store.fail_at(0);
    EXPECT_EQ(run(store, write + 1), TunerEnd::kFinished);
    EXPECT_EQ(story(store), expected) << "killed at write " << write;
  }
}

TEST(ShortlistRun, PredictionsThatDoNotRankAreLeftAsideAndThatIsSaid) {
  fake::MemoryStore store;
  World world(store, card(), 1, "distinct", "", 0, blind_predictors());
  ASSERT_EQ(run_all(world, store, options_with_shortlist(10)), TunerEnd::kFinished);
  const std::vector<std::string>& events = store.events();
  EXPECT_TRUE(std::ranges::any_of(events, [](const std::string& event) {
    return event.find("do not rank") != std::string::npos;
  }));
  EXPECT_GT(2 * count_timed(store), store.evaluations().size());
}

TEST(ShortlistRun, InTheEndEveryCandidateWasMeasured) {
  for (const bool blind : {false, true}) {
    fake::MemoryStore store;
    World world(store, card(), 1, "distinct", "", 0,
                blind ? blind_predictors() : good_predictors());
    TunerOptions options = options_with_shortlist(1000);
    options.strategy = "random";
    EXPECT_EQ(run_all(world, store, options), TunerEnd::kExhausted);
    std::set<std::string> timed;
    for (const StoredEvaluation& stored : store.evaluations()) {
      if (stored.record.timing) timed.insert(stored.record.config_json);
    }
    EXPECT_DOUBLE_EQ(static_cast<double>(timed.size()), world.harness->space().count().value);
  }
}

TEST(ShortlistRun, NeedsPredictors) {
  fake::MemoryStore store;
  World world(store, card(), 1, "distinct");
  EXPECT_THROW((void)run_all(world, store, options_with_shortlist(1)), InputError);
}

}  // namespace
}  // namespace evo
