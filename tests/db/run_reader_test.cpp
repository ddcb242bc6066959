#include "db/run_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "db/store.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

TEST(RunReader, VisitsEvaluationsOneByOne) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId kernel = store.put_compilation(sample::compilation("a"));
  const CandidateId second = store.record_evaluation(run, sample::green(1, 0, kernel, 11));
  const CandidateId first = store.record_evaluation(run, sample::green(0, 0, kernel, 10));
  store.record_withdrawal(run, {first, 1, {Gate::kTiming, "faulted in a pair"}});
  std::vector<CandidateId> visited;
  store.for_each_evaluation(run, [&](const EvaluationRecord& evaluation) {
    visited.push_back(evaluation.id);
    EXPECT_EQ(evaluation.checks.size(), 2U);
    EXPECT_EQ(evaluation.withdrawal.has_value(), evaluation.id == first);
    store.record_event(run, "visited", "the store may be used meanwhile");
  });
  EXPECT_THAT(visited, testing::ElementsAre(first, second));
}

TEST(RunReader, GivesBackEvaluationsInOrderWithAllTheyFound) {
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
  // Stores the records out of order, because parallel workers finish in any order.
  store.record_evaluation(run, sample::rejected(1, 0, rejection));
  store.record_evaluation(run, milestone);
  store.record_evaluation(run, sample::green(0, 0, compilation, 12));

  const std::vector<EvaluationRecord> all = store.evaluations(run);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].position, 0);
  EXPECT_EQ(all[1].milestone, "baseline");
  EXPECT_EQ(all[1].config_json, milestone.config_json);
  EXPECT_EQ(all[1].compilation, compilation);
  EXPECT_DOUBLE_EQ(all[1].timing->p50_us, 10);
  EXPECT_EQ(all[1].timing->samples, 100);
  ASSERT_EQ(all[1].checks.size(), 2U);
  EXPECT_EQ(all[1].checks[0].seed, 18446744073709551614ULL);
  EXPECT_DOUBLE_EQ(all[1].checks[1].relative_l2, 2e-4);
  EXPECT_EQ(all[1].manifest_json, milestone.manifest_json);
  ASSERT_TRUE(all[2].rejection.has_value());
  EXPECT_EQ(all[2].rejection->gate, Gate::kResource);
  EXPECT_EQ(all[2].rejection->reason, rejection.reason);
  EXPECT_TRUE(all[2].rejection->policy_only);
  EXPECT_FALSE(all[2].timing.has_value());
  EXPECT_EQ(store.evaluation(all[2].id).generation, 1);
}

TEST(RunReader, NonFiniteErrorsSurvive) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  EvaluationRecord record =
      sample::rejected(0, 0, {.gate = Gate::kCorrectness, .reason = "not finite"});
  record.checks = {{.shape = "small",
                    .max_abs_error = std::numeric_limits<double>::quiet_NaN(),
                    .relative_l2 = std::numeric_limits<double>::infinity(),
                    .max_row_error = 0.25,
                    .sampled = "2 of 9 CTAs"}};
  const CheckResult check = store.evaluation(store.record_evaluation(run, record)).checks.at(0);
  EXPECT_TRUE(std::isnan(check.max_abs_error));
  EXPECT_TRUE(std::isinf(check.relative_l2));
  EXPECT_EQ(check.max_row_error, 0.25);
  EXPECT_EQ(check.sampled, "2 of 9 CTAs");
}

TEST(RunReader, ADuplicateShowsTheOutcomeOfItsFirst) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const CandidateId first = store.record_evaluation(run, sample::green(0, 0, compilation, 10));
  const CandidateId second = store.record_evaluation(run, sample::duplicate(0, 1, first));
  const CandidateId third = store.record_evaluation(run, sample::duplicate(0, 2, second));
  const EvaluationRecord stored = store.evaluation(third);
  EXPECT_EQ(stored.duplicate_of, first);
  EXPECT_DOUBLE_EQ(stored.timing->p50_us, 10);
  EXPECT_EQ(stored.checks.size(), 2U);
}

TEST(RunReader, CountsAGenerationFromItsCandidates) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId a = store.put_compilation(sample::compilation("a"));
  const CandidateId first = store.record_evaluation(run, sample::green(0, 0, a, 10));
  store.record_evaluation(run, sample::duplicate(0, 1, first));
  store.record_evaluation(run, sample::rejected(0, 2, {.gate = Gate::kBuild, .reason = "no"}));
  store.record_evaluation(run, sample::rejected(1, 0, {.gate = Gate::kBuild, .reason = "no"}));
  store.record_generation(run, {.number = 0,
                                .elite = {first},
                                .wall_ms = 1500,
                                .control_p50_us = 100,
                                .control_drift = 0.01});
  store.record_generation(run, {.number = 1});
  const std::vector<StoredGeneration> generations = store.generations(run);
  ASSERT_EQ(generations.size(), 2U);
  EXPECT_EQ(generations[0].evaluated, 3);
  EXPECT_EQ(generations[0].rejected, 1);
  EXPECT_EQ(generations[0].duplicates, 1);
  EXPECT_DOUBLE_EQ(generations[0].record.control_drift.value(), 0.01);
  ASSERT_EQ(generations[0].record.elite.size(), 1U);
  EXPECT_EQ(generations[0].record.elite[0], first);
  EXPECT_EQ(generations[1].evaluated, 1);
  EXPECT_FALSE(generations[1].record.control_p50_us.has_value());
  EXPECT_EQ(store.run(run).last_generation, 1);
}

TEST(RunReader, KeepsConfirmationsAndEvents) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CompilationId a = store.put_compilation(sample::compilation("a"));
  const CompilationId b = store.put_compilation(sample::compilation("b"));
  const CandidateId one = store.record_evaluation(run, sample::green(0, 0, a, 10));
  const CandidateId two = store.record_evaluation(run, sample::green(0, 1, b, 9));
  store.record_comparison(run, {.generation = 0,
                                .challenger = two,
                                .incumbent = one,
                                .ratio = 0.9,
                                .ratio_low = 0.88,
                                .ratio_high = 0.92,
                                .pairs = 40,
                                .verdict = Verdict::kFaster});
  const std::vector<ComparisonRecord> comparisons = store.comparisons(run);
  ASSERT_EQ(comparisons.size(), 1U);
  EXPECT_EQ(comparisons[0].verdict, Verdict::kFaster);
  EXPECT_DOUBLE_EQ(comparisons[0].ratio_high, 0.92);
  store.record_event(run, "worker", "killed after 10 s");
  ASSERT_EQ(store.events(run).size(), 1U);
  EXPECT_EQ(store.events(run)[0].text, "killed after 10 s");
}

}  // namespace
}  // namespace evo
