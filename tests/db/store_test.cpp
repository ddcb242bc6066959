#include "db/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "db/connection.hpp"
#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

template <typename Body>
std::string db_error(Body&& body) {
  try {
    body();
  } catch (const DbError& error) {
    return error.what();
  }
  return "no DbError";
}

TEST(Store, GivesBackARunAsItWasStarted) {
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

TEST(Store, SharesDevicesAndFilesBetweenRuns) {
  Store store = Store::in_memory();
  store.start_run(sample::run_info());
  store.start_run(sample::run_info());
  EXPECT_EQ(store.runs().size(), 2U);
  SQLite::Database& database = store.connection().database();
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM device").getInt(), 1);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM space").getInt(), 1);
}

TEST(Store, AnUnknownRunIsAnErrorThatSaysWhatThereIs) {
  Store store = Store::in_memory();
  EXPECT_THAT(db_error([&] { static_cast<void>(store.run(7)); }),
              HasSubstr("no run 7; it has no runs"));
  store.start_run(sample::run_info());
  EXPECT_THAT(db_error([&] { store.resume_run(7); }), HasSubstr("1 of them, numbered 1 to 1"));
  EXPECT_THAT(db_error([&] { store.finish_run(7, RunStatus::kFinished); }), HasSubstr("no run 7"));
}

TEST(Store, ResumesTheNewestUnfinishedRunOfTheSameInput) {
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

TEST(Store, ResumingMakesARunRunningAgain) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  store.finish_run(run, RunStatus::kInterrupted);
  EXPECT_TRUE(store.run(run).finished_at.has_value());
  const StoredRun resumed = store.resume_run(run);
  EXPECT_EQ(resumed.status, RunStatus::kRunning);
  EXPECT_FALSE(resumed.finished_at.has_value());
}

TEST(Store, KeepsWithdrawalsOfGreenCandidatesOnly) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId kernel = store.put_compilation(sample::compilation("a"));
  const CandidateId green = store.record_evaluation(run, sample::green(0, 0, kernel, 10));
  const CandidateId copy = store.record_evaluation(run, sample::duplicate(0, 1, green));
  const CandidateId bad = store.record_evaluation(
      run, sample::rejected(0, 2, {.gate = Gate::kTiming, .reason = "slow"}));
  const Rejection why{Gate::kTiming, "faulted in a pair", "detail"};
  store.record_withdrawal(run, {green, 4, why});
  for (const CandidateId candidate : {green, copy, bad, CandidateId{99}}) {
    EXPECT_THROW(store.record_withdrawal(run, {candidate, 4, why}), DbError) << candidate;
  }
  const auto found = store.withdrawals(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].candidate, green);
  EXPECT_EQ(found[0].generation, 4);
  EXPECT_EQ(found[0].why.reason, "faulted in a pair");
  EXPECT_TRUE(store.withdrawals(run + 1).empty());
  EXPECT_FALSE(store.evaluation(green).record.rejection) << "its evaluation stays as it was";
}

TEST(Store, VisitsEvaluationsOneByOne) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId kernel = store.put_compilation(sample::compilation("a"));
  const CandidateId second = store.record_evaluation(run, sample::green(1, 0, kernel, 11));
  const CandidateId first = store.record_evaluation(run, sample::green(0, 0, kernel, 10));
  store.record_withdrawal(run, {first, 1, {Gate::kTiming, "faulted in a pair"}});
  std::vector<CandidateId> visited;
  store.for_each_evaluation(run, [&](const StoredEvaluation& evaluation) {
    visited.push_back(evaluation.id);
    EXPECT_EQ(evaluation.record.checks.size(), 2U);
    EXPECT_EQ(evaluation.withdrawal.has_value(), evaluation.id == first);
    store.record_event(run, "visited", "the store may be used meanwhile");
  });
  EXPECT_THAT(visited, testing::ElementsAre(first, second));
}

TEST(Store, GivesBackEvaluationsInOrderWithAllTheyFound) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  EvaluationRecord milestone = sample::green(0, 1, compilation, 10);
  milestone.milestone = "baseline";
  milestone.origin = "milestone";
  const Rejection rejection{.gate = Gate::kResource,
                            .reason = "128 registers, policy allows 120",
                            .detail = "ptxas log",
                            .policy_only = true};
  // Written out of order, as parallel workers finish.
  store.record_evaluation(run, sample::rejected(1, 0, rejection));
  store.record_evaluation(run, milestone);
  store.record_evaluation(run, sample::green(0, 0, compilation, 12));

  const std::vector<StoredEvaluation> all = store.evaluations(run);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].record.position, 0);
  EXPECT_EQ(all[1].record.milestone, "baseline");
  EXPECT_EQ(all[1].record.config_json, milestone.config_json);
  EXPECT_EQ(all[1].record.compilation, compilation);
  EXPECT_DOUBLE_EQ(all[1].record.timing->p50_us, 10);
  EXPECT_EQ(all[1].record.timing->samples, 100);
  ASSERT_EQ(all[1].record.checks.size(), 2U);
  EXPECT_EQ(all[1].record.checks[0].seed, 18446744073709551614ULL);
  EXPECT_DOUBLE_EQ(all[1].record.checks[1].relative_l2, 2e-4);
  EXPECT_EQ(all[1].record.manifest_json, milestone.manifest_json);
  ASSERT_TRUE(all[2].record.rejection.has_value());
  EXPECT_EQ(all[2].record.rejection->gate, Gate::kResource);
  EXPECT_EQ(all[2].record.rejection->reason, rejection.reason);
  EXPECT_TRUE(all[2].record.rejection->policy_only);
  EXPECT_FALSE(all[2].record.timing.has_value());
  EXPECT_EQ(store.evaluation(all[2].id).record.generation, 1);
}

TEST(Store, NonFiniteErrorsSurvive) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  EvaluationRecord record =
      sample::rejected(0, 0, {.gate = Gate::kCorrectness, .reason = "not finite"});
  record.checks = {{.shape = "small",
                    .max_abs_error = std::numeric_limits<double>::quiet_NaN(),
                    .relative_l2 = std::numeric_limits<double>::infinity(),
                    .max_row_error = 0.25,
                    .sampled = "2 of 9 CTAs"}};
  const CheckResult check =
      store.evaluation(store.record_evaluation(run, record)).record.checks.at(0);
  EXPECT_TRUE(std::isnan(check.max_abs_error));
  EXPECT_TRUE(std::isinf(check.relative_l2));
  EXPECT_EQ(check.max_row_error, 0.25);
  EXPECT_EQ(check.sampled, "2 of 9 CTAs");
}

TEST(Store, ADuplicateShowsTheOutcomeOfItsFirst) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const CandidateId first = store.record_evaluation(run, sample::green(0, 0, compilation, 10));
  const CandidateId second = store.record_evaluation(run, sample::duplicate(0, 1, first));
  const CandidateId third = store.record_evaluation(run, sample::duplicate(0, 2, second));
  const StoredEvaluation stored = store.evaluation(third);
  EXPECT_EQ(stored.record.duplicate_of, first);
  EXPECT_DOUBLE_EQ(stored.record.timing->p50_us, 10);
  EXPECT_EQ(stored.record.checks.size(), 2U);
}

TEST(Store, ADuplicateOfAnotherRunsCandidateIsRefused) {
  Store store = Store::in_memory();
  const RunId one = store.start_run(sample::run_info());
  const RunId two = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const CandidateId first = store.record_evaluation(one, sample::green(0, 0, compilation, 10));
  EXPECT_THROW(store.record_evaluation(two, sample::duplicate(0, 0, first)), DbError);
  EXPECT_TRUE(store.evaluations(two).empty());
}

TEST(Store, RefusesADuplicateWithAnOutcomeOfItsOwn) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  EvaluationRecord record = sample::duplicate(0, 0, 1);
  record.timing = sample::timing(1);
  EXPECT_THAT(db_error([&] { store.record_evaluation(run, record); }),
              HasSubstr("an outcome of its own"));
}

TEST(Store, KeepsWhatNobodyJudgedOutOfTheElite) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  EvaluationRecord record = sample::duplicate(0, 0, 1);
  record.duplicate_of.reset();
  store.record_evaluation(run, record);
  EXPECT_EQ(store.evaluations(run).size(), 1U);
  EXPECT_TRUE(elite_of_run(store, run).empty());
}

TEST(Store, APlaceInAGenerationIsTakenOnce) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const Rejection rejection{.gate = Gate::kBuild, .reason = "no"};
  store.record_evaluation(run, sample::rejected(0, 0, rejection));
  EXPECT_THROW(store.record_evaluation(run, sample::rejected(0, 0, rejection)), DbError);
  EXPECT_EQ(store.evaluations(run).size(), 1U);
}

TEST(Store, PredictedTimesCannotEnterARunThatMeasures) {
  Store store = Store::in_memory();
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  for (const TimeKind kind : {TimeKind::kMeasured, TimeKind::kPredicted}) {
    const RunId run = store.start_run(sample::run_info(kind));
    const TimeKind other = kind == TimeKind::kMeasured ? TimeKind::kPredicted : TimeKind::kMeasured;
    EXPECT_THAT(db_error([&] {
                  store.record_evaluation(run, sample::green(0, 0, compilation, 10, other));
                }),
                HasSubstr("kind of a timing differs"));
    EXPECT_TRUE(store.evaluations(run).empty()) << "the transaction was not rolled back";
    store.record_evaluation(run, sample::green(0, 0, compilation, 10, kind));
  }
}

TEST(Store, CountsAGenerationFromItsCandidates) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId a = store.put_compilation(sample::compilation("a"));
  const CandidateId first = store.record_evaluation(run, sample::green(0, 0, a, 10));
  store.record_evaluation(run, sample::duplicate(0, 1, first));
  store.record_evaluation(run, sample::rejected(0, 2, {.gate = Gate::kBuild, .reason = "no"}));
  store.record_evaluation(run, sample::rejected(1, 0, {.gate = Gate::kBuild, .reason = "no"}));
  store.record_generation(run, {.number = 0,
                                .elite = {{.candidate = first, .p50_us = 9.9}},
                                .wall_ms = 1500,
                                .control_p50_us = 100,
                                .control_drift = 0.01});
  store.record_generation(run, {.number = 1});
  const std::vector<StoredGeneration> generations = store.generations(run);
  ASSERT_EQ(generations.size(), 2U);
  EXPECT_EQ(generations[0].evaluated, 3);
  EXPECT_EQ(generations[0].green, 1);
  EXPECT_EQ(generations[0].rejected, 1);
  EXPECT_EQ(generations[0].duplicates, 1);
  EXPECT_DOUBLE_EQ(generations[0].record.control_drift.value(), 0.01);
  ASSERT_EQ(generations[0].record.elite.size(), 1U);
  EXPECT_EQ(generations[0].record.elite[0].candidate, first);
  EXPECT_EQ(generations[1].evaluated, 1);
  EXPECT_FALSE(generations[1].record.control_p50_us.has_value());
  EXPECT_EQ(store.run(run).last_generation, 1);
}

TEST(Store, OnlyGreenFirstCandidatesOfTheRunEnterTheElite) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const RunId other = store.start_run(sample::run_info());
  const CompilationId a = store.put_compilation(sample::compilation("a"));
  const CandidateId green = store.record_evaluation(run, sample::green(0, 0, a, 10));
  const CandidateId copy = store.record_evaluation(run, sample::duplicate(0, 1, green));
  const CandidateId bad =
      store.record_evaluation(run, sample::rejected(0, 2, {.gate = Gate::kBuild, .reason = "no"}));
  for (const CandidateId candidate : {copy, bad, CandidateId{999}}) {
    EXPECT_THAT(db_error([&] {
                  store.record_generation(
                      run, {.number = 0, .elite = {{.candidate = candidate, .p50_us = 1}}});
                }),
                HasSubstr("cannot be in the elite"));
  }
  EXPECT_THROW(
      store.record_generation(other, {.number = 0, .elite = {{.candidate = green, .p50_us = 1}}}),
      DbError);
  EXPECT_TRUE(store.generations(run).empty());
}

TEST(Store, RunsOverSeveralShapesAreWrittenTogether) {
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
  const std::vector<CandidateId> ids =
      store.record_evaluations({{runs[0], sample::green(0, 0, compilation, 10)},
                                {runs[1], sample::green(0, 0, compilation, 2)}});
  EXPECT_EQ(store.evaluation(ids[1]).record.timing->p50_us, 2);
  // The second cannot be written: nor is the first.
  EXPECT_THROW(store.record_evaluations({{runs[0], sample::green(0, 1, compilation, 10)},
                                         {runs[1], sample::green(0, 0, compilation, 2)}}),
               DbError);
  EXPECT_EQ(store.evaluations(runs[0]).size(), 1U);
  // Which one is resumed depends on the shapes that are asked for.
  EXPECT_EQ(store.find_resumable(info), runs[0]);
  EXPECT_EQ(store.find_resumable(sample::run_info()), alone);
}

TEST(Store, AGenerationOfARunThatIsExtendedIsWrittenAnew) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const CandidateId one = store.record_evaluation(run, sample::green(0, 0, compilation, 10));
  store.record_generation(run, {.number = 0, .elite = {{.candidate = one, .p50_us = 10}}});
  const CandidateId two = store.record_evaluation(run, sample::green(0, 1, compilation, 9));
  store.record_generation(
      run,
      {.number = 0, .elite = {{.candidate = two, .p50_us = 9}, {.candidate = one, .p50_us = 10}}});
  const std::vector<StoredGeneration> generations = store.generations(run);
  ASSERT_EQ(generations.size(), 1U);
  ASSERT_EQ(generations[0].record.elite.size(), 2U);
  EXPECT_EQ(generations[0].record.elite[0].candidate, two);
  const std::string options = R"({"generations": 40})";
  EXPECT_EQ(store.resume_run(run, options).info.options_json, options);
  EXPECT_EQ(store.run(run).info.options_json, options);
}

TEST(Store, KeepsConfirmationsAndEvents) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId a = store.put_compilation(sample::compilation("a"));
  const CompilationId b = store.put_compilation(sample::compilation("b"));
  const CandidateId one = store.record_evaluation(run, sample::green(0, 0, a, 10));
  const CandidateId two = store.record_evaluation(run, sample::green(0, 1, b, 9));
  store.record_confirmation(run, {.generation = 0,
                                  .challenger = two,
                                  .incumbent = one,
                                  .ratio = 0.9,
                                  .ratio_low = 0.88,
                                  .ratio_high = 0.92,
                                  .pairs = 40,
                                  .verdict = Verdict::kFaster});
  const std::vector<ConfirmationRecord> confirmations = store.confirmations(run);
  ASSERT_EQ(confirmations.size(), 1U);
  EXPECT_EQ(confirmations[0].verdict, Verdict::kFaster);
  EXPECT_DOUBLE_EQ(confirmations[0].ratio_high, 0.92);
  store.record_event(run, "worker", "killed after 10 s");
  ASSERT_EQ(store.events(run).size(), 1U);
  EXPECT_EQ(store.events(run)[0].text, "killed after 10 s");
}

}  // namespace
}  // namespace evo
