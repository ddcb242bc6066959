// The loop of a run with every boundary faked: compilers that finish in any order, a device that
// does what a test says, a clock that passes only while somebody waits, a store in memory.

#include "engine/coordinator/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/evolve/window.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_services.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

constexpr RunId kRun = 1;

class SilentObserver final : public TunerObserver {
 public:
  void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) override {
    (void)evaluated;
    (void)progress;
    ++evaluated_;
  }
  void on_generation(const RunProgress& progress, const std::vector<EliteMember>& elite) override {
    (void)progress;
    (void)elite;
    ++generations_;
  }
  int evaluated_ = 0;
  int generations_ = 0;
};

/// Few enough neighbours that the strategy is quick, enough configurations for every test.
void write_space(const std::filesystem::path& folder) {
  std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted", folder,
                        std::filesystem::copy_options::recursive);
  Json space = read_json_file(folder / "search_spaces/wide.json");
  Json alias = Json::array();
  for (int i = 0; i < 12; ++i) alias.push_back(i);
  space["parameters"][3]["values"] = alias;
  write_file(folder / "search_spaces/wide.json", space.dump());
  space["parameters"][3]["macro"] = "OTHER";  // it changes the code: every candidate is a kernel
  write_file(folder / "search_spaces/distinct.json", space.dump());
}

/// A harness whose workers are fakes, for one run.
struct World {
  explicit World(fake::MemoryStore& store, fake::DeviceBehaviour behaviour = {},
                 std::uint64_t compiler_seed = 1, const std::string& space = "wide") {
    auto own_clock = std::make_unique<fake::FakeClock>();
    clock = own_clock.get();
    auto own_compilers = std::make_unique<fake::FakeCompileService>(*clock, 4, compiler_seed);
    compilers = own_compilers.get();
    auto own_device = std::make_unique<fake::FakeDeviceService>(*clock, std::move(behaviour));
    device = own_device.get();
    write_space(folder.path() / "project");
    HarnessOptions options;
    options.space_file = folder.path() / "project/search_spaces" / (space + ".json");
    harness = std::make_unique<Harness>(
        options,
        Services{store, std::move(own_compilers), std::move(own_device), std::move(own_clock)});
  }

  sample::TemporaryFolder folder;
  fake::FakeClock* clock;
  fake::FakeCompileService* compilers;
  fake::FakeDeviceService* device;
  std::unique_ptr<Harness> harness;
};

TunerOptions options_for(int generations, std::size_t window) {
  TunerOptions options;
  options.generations = generations;
  options.children = 6;
  options.window = window;
  options.seed = 7;
  return options;
}

TunerEnd run_all(World& world, fake::MemoryStore& store, const TunerOptions& options) {
  SilentObserver observer;
  Tuner tuner(*world.harness, store, kRun, options, observer);
  const std::atomic<bool> never{false};
  return tuner.run({store.evaluations(), store.generations()}, never);
}

/// All that a run decided, in its order.
std::vector<std::string> story(const fake::MemoryStore& store) {
  std::vector<std::string> lines;
  for (const StoredEvaluation& stored : store.evaluations()) {
    const EvaluationRecord& record = stored.record;
    std::string line = std::to_string(record.generation) + "." + std::to_string(record.position) +
                       " " + record.config_json;
    if (record.duplicate_of) line += " duplicate of " + std::to_string(*record.duplicate_of);
    if (record.rejection) line += " " + record.rejection->reason;
    if (record.timing) line += " " + std::to_string(record.timing->p50_us);
    lines.push_back(line);
  }
  for (const StoredGeneration& stored : store.generations()) {
    std::string line = "elite of " + std::to_string(stored.record.number);
    for (const EliteEntry& entry : stored.record.elite) {
      line += " " + std::to_string(entry.candidate);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(Tuner, TheOrderInWhichCompilersFinishChangesNothing) {
  std::vector<std::string> first;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    fake::MemoryStore store;
    World world(store, {}, seed);
    EXPECT_EQ(run_all(world, store, options_for(8, 16)), TunerEnd::kFinished);
    if (first.empty()) first = story(store);
    EXPECT_EQ(story(store), first) << "seed of the compilers: " << seed;
  }
  EXPECT_GT(first.size(), 8U * 6);
}

TEST(Tuner, TheWindowIsWhatIsInFlight) {
  for (const std::size_t window : {1U, 4U, 32U}) {
    fake::MemoryStore store;
    World world(store);
    TunerOptions options = options_for(20, window);
    EXPECT_EQ(run_all(world, store, options), TunerEnd::kFinished);
    EXPECT_LE(world.compilers->most_at_once(), window);
    const std::size_t slots = store.evaluations().size();
    EXPECT_GE(world.compilers->most_at_once() + 2, in_flight_at(slots - 1, window))
        << "some are found in the database, and the device takes one";
  }
}

/// Times as they are, and after `from` timings the other way round.
fake::DeviceBehaviour turning(int from) {
  auto count = std::make_shared<int>(0);
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;  // no duels, no control: one timing a candidate
  behaviour.time_us = [=](const fake::Program& program) {
    const double time = 10 + program.number("THREADS", 0) / 100 + program.number("ITEMS", 0);
    return (*count)++ < from ? time : 100 - time;
  };
  return behaviour;
}

TEST(Tuner, ACandidateIsProposedFromWhatIsKnownBeforeTheWindow) {
  constexpr int kSame = 6;
  fake::MemoryStore one;
  fake::MemoryStore two;
  World first(one, turning(kSame));
  World second(two, turning(1000));
  (void)run_all(first, one, options_for(8, 4));
  (void)run_all(second, two, options_for(8, 4));
  const auto a = one.evaluations();
  const auto b = two.evaluations();
  std::size_t turned = 0;  // the slot of the first outcome that differs
  for (int timed = 0; timed <= kSame; ++turned) {
    if (a[turned].record.timing && !a[turned].record.duplicate_of) ++timed;
  }
  --turned;
  ASSERT_NE(a[turned].record.timing->p50_us, b[turned].record.timing->p50_us);
  std::size_t same = 0;
  while (same < a.size() && a[same].record.config_json == b[same].record.config_json) ++same;
  std::size_t first_told = turned + 1;  // the first proposal that can know of it
  while (first_told - in_flight_at(first_told, 4) < turned) ++first_told;
  EXPECT_GE(same, first_told);
  EXPECT_LT(same, a.size()) << "what is learned makes a difference";
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
      World killed(store, {}, write);
      (void)run_all(killed, store, options);
      FAIL() << "write " << write << " did not fail";
    } catch (const DbError&) {
      // As a kill: the process and all it held are gone.
    }
    store.fail_at(0);
    World resumed(store, {}, write + 1);
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

TEST(Tuner, CompilersWorkWhileTheDeviceComparesKernels) {
  const auto starved_ms = [](double compare_ms) {
    fake::MemoryStore store;
    fake::DeviceBehaviour behaviour;
    behaviour.compare_ms = compare_ms;
    behaviour.time_us = [](const fake::Program&) { return 10.0; };  // each has to be compared
    World world(store, behaviour, 1, "distinct");
    world.compilers->longest_ms = 400;
    (void)run_all(world, store, options_for(20, 8));
    return world.harness->times().starved_ms;
  };
  EXPECT_LT(starved_ms(50), starved_ms(0.1) / 2);
}

TEST(Tuner, IsOutOfTimeWithinOneLaunchAndKeepsWhatItFound) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour;
  behaviour.check_ms = 400;
  behaviour.time_ms = 400;
  behaviour.compare_ms = 700;
  behaviour.time_us = [](const fake::Program&) { return 10.0; };  // each has to be compared
  World world(store, behaviour);
  TunerOptions options = options_for(100, 8);
  options.children = 40;
  options.max_seconds = 9.5;
  const SteadyTime start = world.clock->now();
  SilentObserver observer;
  Tuner tuner(*world.harness, store, kRun, options, observer);
  const std::atomic<bool> never{false};
  EXPECT_EQ(tuner.run({}, never), TunerEnd::kOutOfTime);
  EXPECT_LE(milliseconds_between(start, world.clock->now()), 9510);
  EXPECT_FALSE(tuner.elite().members().empty());
  EXPECT_EQ(store.generations().size(), 1U) << "the generation it was in";
  EXPECT_GE(world.device->abandoned(), 1U);
  EXPECT_GT(tuner.progress().left_out, 0U);
  EXPECT_LT(tuner.progress().left_out, tuner.progress().green);
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
    Tuner tuner(*stopped.harness, store, kRun, options_for(4, 8), observer);
    EXPECT_EQ(tuner.run({}, stop), TunerEnd::kInterrupted);
    EXPECT_EQ(stopped.device->abandoned(), 1U) << "the launch that was running is given up";
    EXPECT_EQ(checks, 9);
  }
  World resumed(store);
  EXPECT_EQ(run_all(resumed, store, options_for(4, 8)), TunerEnd::kFinished);
  EXPECT_EQ(story(store), story(whole));
}

TEST(Tuner, AKernelThatFailsBesideOthersAndAloneLeavesTheElite) {
  fake::MemoryStore store;
  std::string best;  // its configuration
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
    for (const EliteEntry& entry : generation.record.elite) {
      EXPECT_NE(entry.candidate, withdrawals.front().candidate);
    }
  }
}

/// Screened kernels; all checks find that those with 128 threads are wrong.
fake::DeviceBehaviour screening() {
  fake::DeviceBehaviour behaviour;
  behaviour.time_us = [](const fake::Program& program) {
    return 10 + program.number("THREADS", 0) / 100 + program.number("ITEMS", 0) +
           program.number("OTHER", 0);
  };
  behaviour.check = [](const fake::Program&) {
    CorrectnessResult result{{CheckResult{"mission", 1}}};
    result.complete = false;
    return result;
  };
  behaviour.full_check = [](const fake::Program& program) {
    CorrectnessResult result{{CheckResult{"mission", 1}, CheckResult{"mission", 2}}};
    if (program.number("THREADS", 0) == 128) {
      result.rejection = Rejection{Gate::kCorrectness, "wrong on seed 2"};
    }
    return result;
  };
  return behaviour;
}

TEST(Tuner, NoKernelEntersTheEliteOnAScreeningAlone) {
  fake::MemoryStore store;
  World world(store, screening(), 1, "distinct");
  (void)run_all(world, store, options_for(12, 8));
  ASSERT_FALSE(store.withdrawals(kRun).empty());
  for (const WithdrawalRecord& withdrawal : store.withdrawals(kRun)) {
    EXPECT_EQ(withdrawal.why.reason, "wrong on seed 2");
    EXPECT_THAT(store.evaluation(withdrawal.candidate).config_json, HasSubstr("\"THREADS\":128"));
  }
  std::size_t members = 0;
  for (const StoredGeneration& generation : store.generations()) {
    for (const EliteEntry& entry : generation.record.elite) {
      const EvaluationRecord& record = store.evaluation(entry.candidate);
      EXPECT_THAT(record.config_json, testing::Not(HasSubstr("\"THREADS\":128")));
      EXPECT_EQ(record.checks.size(), 2U) << "what is told of it is what was done";
      ++members;
    }
  }
  EXPECT_GT(members, 3U);
  std::size_t full = 0;
  for (const std::string& request : world.device->requests()) {
    full += request.starts_with("full check") ? 1 : 0;
  }
  EXPECT_LT(full, store.evaluations().size() / 2) << "only of those that had a chance";
}

TEST(Tuner, AScreenedRunThatWasKilledEndsAsTheOneThatWasNot) {
  fake::MemoryStore whole;
  World world(whole, screening(), 1, "distinct");
  const TunerOptions options = options_for(3, 8);
  ASSERT_EQ(run_all(world, whole, options), TunerEnd::kFinished);
  for (std::size_t write = 1; write <= whole.writes(); ++write) {
    fake::MemoryStore store;
    store.fail_at(write);
    const auto run_until_killed = [&] {
      World killed(store, screening(), write, "distinct");
      (void)run_all(killed, store, options);
    };
    EXPECT_THROW(run_until_killed(), DbError);
    store.fail_at(0);
    World resumed(store, screening(), write, "distinct");
    EXPECT_EQ(run_all(resumed, store, options), TunerEnd::kFinished);
    EXPECT_EQ(story(store), story(whole)) << "killed at write " << write;
  }
}

TEST(Tuner, ASpaceWithoutMoreCandidatesEndsTheRun) {
  fake::MemoryStore store;
  World world(store, {}, 1, "planted_duels");
  TunerOptions options = options_for(1000, 16);
  options.strategy = "random";
  EXPECT_EQ(run_all(world, store, options), TunerEnd::kExhausted);
  std::set<std::string> configurations;
  for (const StoredEvaluation& stored : store.evaluations()) {
    configurations.insert(stored.record.config_json);
  }
  EXPECT_EQ(configurations.size(), store.evaluations().size()) << "each once";
  EXPECT_DOUBLE_EQ(static_cast<double>(configurations.size()),
                   world.harness->space().count().value);
}

TEST(Tuner, TheStrategyHearsOfACompilerThatFailsAsOfAFailedBuild) {
  fake::MemoryStore store;
  World world(store, {}, 1, "planted_duels");
  TunerOptions options = options_for(12, 8);
  options.strategy = "random";
  (void)run_all(world, store, options);
  std::size_t unstored = 0;
  for (const StoredEvaluation& stored : store.evaluations()) {
    if (!stored.record.rejection || stored.record.rejection->gate != Gate::kBuild) continue;
    if (!stored.record.compilation) ++unstored;  // what need not fail again is not kept
  }
  EXPECT_GT(unstored, 0U);
}

}  // namespace
}  // namespace evo
