#include "db/run_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "tests/db/db_error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

TEST(RunTable, GivesBackARunAsItWasStarted) {
  Store store = Store::in_memory();
  const RunInfo info = sample::run_info();
  const StoredRun run = store.run(store.start_run(info));
  EXPECT_EQ(run.status, RunStatus::kRunning);
  EXPECT_EQ(run.info.seed, info.seed);
  EXPECT_EQ(run.info.device.name, info.device.name);
  EXPECT_EQ(run.info.device.l2_bytes, info.device.l2_bytes);
  EXPECT_EQ(run.info.device.max_registers_per_thread, 255);
  EXPECT_EQ(run.info.space.text, info.space.text);
  EXPECT_EQ(run.info.problem.key, info.problem.key);
  EXPECT_EQ(run.info.elite_size, 3);
  EXPECT_DOUBLE_EQ(run.info.flops_per_launch, 2e9);
  EXPECT_FALSE(run.last_generation.has_value());
  EXPECT_FALSE(run.finished_at.has_value());
}

TEST(RunTable, SharesDevicesAndFilesBetweenRuns) {
  Store store = Store::in_memory();
  store.start_run(sample::run_info());
  store.start_run(sample::run_info());
  EXPECT_EQ(store.runs().size(), 2U);
  SQLite::Database& database = store.connection().database();
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM device").getInt(), 1);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM space").getInt(), 1);
}

TEST(RunTable, AnUnknownRunIsAnErrorThatSaysWhatThereIs) {
  Store store = Store::in_memory();
  EXPECT_THAT(sample::db_error([&] { static_cast<void>(store.run(7)); }),
              HasSubstr("no run 7; the database has no runs"));
  store.start_run(sample::run_info());
  EXPECT_THAT(sample::db_error([&] { store.resume_run(7); }),
              HasSubstr("stored runs: 1, numbered 1 to 1"));
  EXPECT_THAT(sample::db_error([&] { store.finish_run(7, RunStatus::kFinished); }),
              HasSubstr("no run 7"));
}

TEST(RunTable, ResumesTheNewestUnfinishedRunOfTheSameInput) {
  Store store = Store::in_memory();
  const RunInfo info = sample::run_info();
  EXPECT_FALSE(store.find_resumable(info).has_value());
  const RunId first = store.start_run(info);
  const RunId second = store.start_run(info);
  store.finish_run(second, RunStatus::kInterrupted);
  EXPECT_EQ(store.find_resumable(info), second);
  store.finish_run(second, RunStatus::kFinished);
  EXPECT_EQ(store.find_resumable(info), first);

  RunInfo other = info;
  other.shape = "long";
  EXPECT_FALSE(store.find_resumable(other).has_value());
  other = info;
  other.space.key = "another";
  EXPECT_FALSE(store.find_resumable(other).has_value());
  EXPECT_FALSE(store.find_resumable(sample::run_info(TimeKind::kPredicted)).has_value());
}

TEST(RunTable, ResumingMakesARunRunningAgain) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  store.finish_run(run, RunStatus::kInterrupted);
  EXPECT_TRUE(store.run(run).finished_at.has_value());
  const StoredRun resumed = store.resume_run(run);
  EXPECT_EQ(resumed.status, RunStatus::kRunning);
  EXPECT_FALSE(resumed.finished_at.has_value());
}

TEST(RunTable, RunsOverSeveralShapesAreWrittenTogether) {
  Store store = Store::in_memory();
  RunInfo info = sample::run_info();
  info.options_json = R"({"group": "g", "shapes": ["mission", "small"]})";
  RunInfo small = info;
  small.shape = "small";
  const RunId alone = store.start_run(sample::run_info());
  const std::vector<RunId> runs = store.start_runs({info, small});
  EXPECT_EQ(store.runs_beside(runs[1]), runs);
  EXPECT_EQ(store.runs_beside(alone), std::vector<RunId>{alone});
  EXPECT_THROW((void)store.runs_beside(99), DbError);
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const auto green_in = [&](RunId run, int position, double p50_us) {
    EvaluationRecord record = sample::green(0, position, compilation, p50_us);
    record.run = run;
    return record;
  };
  const std::vector<CandidateId> ids =
      store.record_evaluations({green_in(runs[0], 0, 10), green_in(runs[1], 0, 2)});
  EXPECT_EQ(store.evaluation(ids[1]).timing->p50_us, 2);
  // The record for the second run cannot be stored, because the run already has a record at
  // this position, so the record for the first run must not be stored either.
  EXPECT_THROW(store.record_evaluations({green_in(runs[0], 1, 10), green_in(runs[1], 0, 2)}),
               DbError);
  EXPECT_EQ(store.evaluations(runs[0]).size(), 1U);
  // find_resumable() finds only a run over the same list of shapes.
  EXPECT_EQ(store.find_resumable(info), runs[0]);
  EXPECT_EQ(store.find_resumable(sample::run_info()), alone);
}

TEST(RunTable, RunsOfOtherSearchesOfACommandAreNotBesideARun) {
  Store store = Store::in_memory();
  const auto start = [&](const std::string& shapes) {
    RunInfo info = sample::run_info();
    info.options_json = R"({"group": "g")" + shapes + "}";
    return store.start_run(info);
  };
  const RunId first = start(R"(, "shapes": ["mission", "small"])");
  const RunId second = start(R"(, "shapes": ["mission", "small"])");
  const RunId other = start(R"(, "shapes": ["long", "longer"])");
  const RunId single = start("");
  start("");
  EXPECT_EQ(store.runs_beside(first), (std::vector<RunId>{first, second}));
  EXPECT_EQ(store.runs_beside(other), std::vector<RunId>{other});
  EXPECT_EQ(store.runs_beside(single), std::vector<RunId>{single});
}

}  // namespace
}  // namespace evo
