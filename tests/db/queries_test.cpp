#include "db/queries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::ElementsAre;

class Queries : public testing::Test {
 protected:
  CandidateId add_green(RunId run, int generation, int position, const std::string& kernel,
                        double p50_us, const std::string& milestone = {}) {
    EvaluationRecord record =
        sample::green(generation, position, store_.put_compilation(sample::compilation(kernel)),
                      p50_us, store_.run(run).info.device.time_kind);
    record.milestone = milestone;
    return store_.record_evaluation(run, record);
  }

  CandidateId add_rejected(int position, Rejection rejection, const std::string& milestone = {}) {
    EvaluationRecord record = sample::rejected(0, position, std::move(rejection));
    record.milestone = milestone;
    return store_.record_evaluation(run_, record);
  }

  std::vector<RunId> elite_runs(const RunFilter& filter) const {
    std::vector<RunId> runs;
    for (const RunElite& elite : elites(store_, filter)) runs.push_back(elite.run.id);
    return runs;
  }

  Store store_ = Store::in_memory();
  RunId run_ = store_.start_run(sample::run_info());
};

TEST_F(Queries, GivesTheEliteOfTheNewestGreenRunOfEachKind) {
  const RunId newer = store_.start_run(sample::run_info());
  const RunId nothing_green = store_.start_run(sample::run_info());
  const RunId predicted = store_.start_run(sample::run_info(TimeKind::kPredicted));
  add_green(run_, 0, 0, "a", 10);
  add_green(newer, 0, 0, "a", 11);
  add_green(predicted, 0, 0, "a", 5);
  EXPECT_THAT(elite_runs({}), ElementsAre(newer, predicted));
  EXPECT_THAT(elite_runs({.device = "h200"}), ElementsAre(newer));
  EXPECT_THAT(elite_runs({.device = "virtual:l4"}), ElementsAre(predicted));
  EXPECT_THROW(elite_runs({.device = "A100"}), InputError);
  EXPECT_THROW(elite_runs({.shape = "long"}), InputError);
  EXPECT_THAT(elite_runs({.run = run_}), ElementsAre(run_));
  EXPECT_THAT(elite_runs({.run = nothing_green}), ElementsAre(nothing_green));
  EXPECT_THROW(elite_runs({.run = 77}), DbError);
}

TEST_F(Queries, ElitesCarryTheFiguresOfTheView) {
  const CandidateId best = add_green(run_, 0, 0, "a", 10);
  const std::vector<EliteRow> rows = elite_of_run(store_, run_);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].candidate, best);
  EXPECT_DOUBLE_EQ(rows[0].tflops, 200);
  EXPECT_EQ(rows[0].shared_bytes, 5120);
  EXPECT_DOUBLE_EQ(rows[0].max_abs_error.value(), 0.002);
  EXPECT_EQ(rows[0].kind, TimeKind::kMeasured);
}

TEST_F(Queries, TheMilestoneTableComparesEachMilestoneWithTheGreenOneBefore) {
  const CandidateId baseline = add_green(run_, 0, 0, "a", 100, "baseline");
  add_rejected(1, {.gate = Gate::kCorrectness, .reason = "wrong"}, "fused");
  add_green(run_, 0, 2, "b", 50, "wmma");
  EvaluationRecord same = sample::duplicate(0, 3, baseline);
  same.milestone = "again";
  store_.record_evaluation(run_, same);
  add_green(run_, 0, 4, "c", 1);
  const std::vector<MilestoneResult> results = milestone_results(store_, run_);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].evaluation.milestone, "baseline");
  EXPECT_FALSE(results[0].speedup.has_value());
  EXPECT_FALSE(results[1].p50_us.has_value());
  EXPECT_EQ(results[1].evaluation.rejection->reason, "wrong");
  EXPECT_DOUBLE_EQ(results[2].speedup.value(), 2);
  EXPECT_EQ(results[3].evaluation.duplicate_of, baseline);
  EXPECT_DOUBLE_EQ(results[3].speedup.value(), 0.5);
}

TEST_F(Queries, RejectionsAreGroupedByGateAndReasonWhateverTheFigures) {
  const CandidateId first = add_rejected(
      0, {.gate = Gate::kResource, .reason = "128 registers, policy: 120", .policy_only = true});
  add_rejected(
      1, {.gate = Gate::kResource, .reason = "255 registers, policy: 120", .policy_only = true});
  add_rejected(2, {.gate = Gate::kResource, .reason = "300 KiB shared, device: 227 KiB"});
  add_rejected(3, {.gate = Gate::kBuild, .reason = "expected a ';'"});
  const CandidateId green = add_green(run_, 0, 4, "a", 10);
  store_.record_evaluation(run_, sample::duplicate(0, 5, green));
  store_.record_evaluation(run_, sample::duplicate(0, 6, first));

  const RejectionSummary summary = rejections(store_, run_);
  EXPECT_EQ(summary.evaluated, 7);
  EXPECT_EQ(summary.green, 1);
  EXPECT_EQ(summary.rejected, 4);
  EXPECT_EQ(summary.duplicates, 2);
  EXPECT_EQ(summary.policy_only, 2);
  ASSERT_EQ(summary.groups.size(), 3U);
  EXPECT_EQ(summary.groups[0].gate, Gate::kBuild);
  EXPECT_EQ(summary.groups[1].count, 2);
  EXPECT_EQ(summary.groups[1].reason, "128 registers, policy: 120");
  EXPECT_EQ(summary.groups[1].candidate, first);
  EXPECT_TRUE(summary.groups[1].policy_only);
  EXPECT_FALSE(summary.groups[2].policy_only);
}

TEST_F(Queries, WithdrawnCandidatesAreCountedApart) {
  const CandidateId gone = add_green(run_, 0, 0, "a", 10, "first");
  add_green(run_, 0, 1, "b", 20, "second");
  store_.record_evaluation(run_, sample::duplicate(0, 2, gone));
  store_.record_generation(run_, {.number = 0});
  store_.record_withdrawal(run_, {gone, 1, {Gate::kTiming, "faulted in a pair"}});
  const RejectionSummary summary = rejections(store_, run_);
  EXPECT_EQ(summary.evaluated, 3);
  EXPECT_EQ(summary.green, 1);
  EXPECT_EQ(summary.withdrawn, 1);
  EXPECT_EQ(summary.rejected, 0);
  EXPECT_EQ(summary.duplicates, 1);
  const std::vector<MilestoneResult> results = milestone_results(store_, run_);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].evaluation.withdrawal.value().reason, "faulted in a pair");
  EXPECT_FALSE(results[0].p50_us.has_value());
  EXPECT_FALSE(results[1].speedup.has_value()) << "no milestone before this one is green";
  const StoredGeneration generation = store_.generations(run_).at(0);
  EXPECT_EQ(generation.withdrawn, 1);
}

TEST_F(Queries, AnEmptyRunHasAnEmptySummary) {
  const RejectionSummary summary = rejections(store_, run_);
  EXPECT_EQ(summary.evaluated, 0);
  EXPECT_EQ(summary.policy_only, 0);
  EXPECT_TRUE(summary.groups.empty());
  EXPECT_TRUE(milestone_results(store_, run_).empty());
}

TEST_F(Queries, FindsConfirmationsInBothDirections) {
  const CandidateId a = add_green(run_, 0, 0, "a", 10);
  const CandidateId b = add_green(run_, 0, 1, "b", 9);
  const CandidateId c = add_green(run_, 0, 2, "c", 8);
  store_.record_comparison(run_, {.challenger = b, .incumbent = a, .pairs = 1});
  store_.record_comparison(run_, {.challenger = a, .incumbent = b, .pairs = 2});
  store_.record_comparison(run_, {.challenger = c, .incumbent = a, .pairs = 3});
  EXPECT_EQ(comparisons_between(store_, a, b).size(), 2U);
  EXPECT_EQ(comparisons_between(store_, b, a).size(), 2U);
  EXPECT_EQ(comparisons_between(store_, c, a).at(0).pairs, 3);
  EXPECT_TRUE(comparisons_between(store_, b, c).empty());
}

TEST(ReasonPattern, ReplacesWholeNumbers) {
  EXPECT_EQ(reason_pattern("128 registers > 120"), "# registers > #");
  EXPECT_EQ(reason_pattern("max 0.061 at 1,024 (2.5e-3)"), "max # at # (#)");
  EXPECT_EQ(reason_pattern("expected a ';'"), "expected a ';'");
}

}  // namespace
}  // namespace evo
