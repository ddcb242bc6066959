#include "db/run_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/queries.hpp"
#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "tests/db/db_error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// A candidate that no gate after the resource gate judged.
EvaluationRecord without_outcome(int generation, int position) {
  EvaluationRecord record = sample::duplicate(generation, position, 1);
  record.duplicate_of.reset();
  return record;
}

TEST(RunRecords, KeepsWithdrawalsOfGreenCandidatesOnly) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId kernel = store.put_compilation(sample::compilation("a"));
  const CandidateId green = store.record_evaluation(run, sample::green(0, 0, kernel, 10));
  const CandidateId copy = store.record_evaluation(run, sample::duplicate(0, 1, green));
  const CandidateId bad = store.record_evaluation(
      run, sample::rejected(0, 2, {.gate = Gate::kTiming, .reason = "slow"}));
  const CandidateId unjudged = store.record_evaluation(run, without_outcome(0, 3));
  const Rejection why{Gate::kTiming, "faulted in a pair", "detail"};
  store.record_withdrawal(run, {green, 4, why});
  for (const CandidateId candidate : {green, copy, bad, unjudged, CandidateId{99}}) {
    EXPECT_THROW(store.record_withdrawal(run, {candidate, 4, why}), DbError) << candidate;
  }
  const auto found = store.withdrawals(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].candidate, green);
  EXPECT_EQ(found[0].generation, 4);
  EXPECT_EQ(found[0].why.reason, "faulted in a pair");
  EXPECT_TRUE(store.withdrawals(run + 1).empty());
  EXPECT_FALSE(store.evaluation(green).rejection) << "a withdrawal must not change the evaluation";
}

TEST(RunRecords, ADuplicateOfAnotherRunsCandidateIsRefused) {
  Store store = Store::in_memory();
  const RunId one = store.start_run(sample::run_info());
  const RunId two = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const CandidateId first = store.record_evaluation(one, sample::green(0, 0, compilation, 10));
  EXPECT_THROW(store.record_evaluation(two, sample::duplicate(0, 0, first)), DbError);
  EXPECT_TRUE(store.evaluations(two).empty());
}

TEST(RunRecords, RefusesADuplicateWithAnOutcomeOfItsOwn) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  EvaluationRecord record = sample::duplicate(0, 0, 1);
  record.timing = sample::timing(1);
  EXPECT_THAT(sample::db_error([&] { store.record_evaluation(run, record); }),
              HasSubstr("has its own outcome"));
}

TEST(RunRecords, KeepsWhatNobodyJudgedOutOfTheElite) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  store.record_evaluation(run, without_outcome(0, 0));
  EXPECT_EQ(store.evaluations(run).size(), 1U);
  EXPECT_TRUE(elite_of_run(store, run).empty());
}

TEST(RunRecords, APlaceInAGenerationIsTakenOnce) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const Rejection rejection{.gate = Gate::kBuild, .reason = "no"};
  store.record_evaluation(run, sample::rejected(0, 0, rejection));
  EXPECT_THROW(store.record_evaluation(run, sample::rejected(0, 0, rejection)), DbError);
  EXPECT_EQ(store.evaluations(run).size(), 1U);
}

TEST(RunRecords, PredictedTimesCannotEnterARunThatMeasures) {
  Store store = Store::in_memory();
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  for (const TimeKind kind : {TimeKind::kMeasured, TimeKind::kPredicted}) {
    const RunId run = store.start_run(sample::run_info(kind));
    const TimeKind other = kind == TimeKind::kMeasured ? TimeKind::kPredicted : TimeKind::kMeasured;
    EXPECT_THAT(sample::db_error([&] {
                  store.record_evaluation(run, sample::green(0, 0, compilation, 10, other));
                }),
                HasSubstr("kind of a timing differs"));
    EXPECT_TRUE(store.evaluations(run).empty()) << "the transaction was not rolled back";
    store.record_evaluation(run, sample::green(0, 0, compilation, 10, kind));
  }
}

TEST(RunRecords, OnlyGreenFirstCandidatesOfTheRunEnterTheElite) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const RunId other = store.start_run(sample::run_info());
  const CompilationId a = store.put_compilation(sample::compilation("a"));
  const CandidateId green = store.record_evaluation(run, sample::green(0, 0, a, 10));
  const CandidateId copy = store.record_evaluation(run, sample::duplicate(0, 1, green));
  const CandidateId bad =
      store.record_evaluation(run, sample::rejected(0, 2, {.gate = Gate::kBuild, .reason = "no"}));
  const CandidateId unjudged = store.record_evaluation(run, without_outcome(0, 3));
  for (const CandidateId candidate : {copy, bad, unjudged, CandidateId{999}}) {
    EXPECT_THAT(sample::db_error(
                    [&] { store.record_generation(run, {.number = 0, .elite = {candidate}}); }),
                HasSubstr("cannot be in the elite"));
  }
  EXPECT_THROW(store.record_generation(other, {.number = 0, .elite = {green}}), DbError);
  EXPECT_TRUE(store.generations(run).empty());
}

TEST(RunRecords, AGenerationOfARunThatIsExtendedIsWrittenAnew) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const CandidateId one = store.record_evaluation(run, sample::green(0, 0, compilation, 10));
  store.record_generation(run, {.number = 0, .elite = {one}});
  const CandidateId two = store.record_evaluation(run, sample::green(0, 1, compilation, 9));
  store.record_generation(run, {.number = 0, .elite = {two, one}});
  const std::vector<StoredGeneration> generations = store.generations(run);
  ASSERT_EQ(generations.size(), 1U);
  ASSERT_EQ(generations[0].record.elite.size(), 2U);
  EXPECT_EQ(generations[0].record.elite[0], two);
  const std::string options = R"({"generations": 40})";
  EXPECT_EQ(store.resume_run(run, options).info.options_json, options);
  EXPECT_EQ(store.run(run).info.options_json, options);
}

}  // namespace
}  // namespace evo
