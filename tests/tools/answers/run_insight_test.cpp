#include "tools/answers/run_insight.hpp"

#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

constexpr const char* kSpace = R"({
  "format": "evo-tune space 1", "name": "copy", "problem": "copy", "template": "copy",
  "arch": "sm_90", "shape": "mission",
  "parameters": [{"macro": "TILE", "values": [0, 1, 2, 3], "meaning": "rows"}]})";

TEST(RunInsight, WhatNoCompilerBuiltSaysNothingOfTheKernel) {
  const sample::TemporaryFolder folder;
  Store store = Store::open(folder.path() / "evo.db");
  RunInfo info = sample::run_info();
  info.space.text = kSpace;
  const RunId run = store.start_run(info);
  EvaluationRecord right = sample::green(0, 0, store.put_compilation(sample::compilation("k")), 10);
  right.config_json = R"({"TILE": 0})";
  store.record_evaluation(run, right);
  // The kernel of `wrong` does not compile. For `unlucky`, the compiler ran out of memory, so the
  // compilation was not stored.
  EvaluationRecord wrong = sample::rejected(0, 1, {Gate::kBuild, "error: expected a ;"});
  wrong.config_json = R"({"TILE": 1})";
  wrong.compilation = store.put_compilation(sample::failed_compilation("wrong"));
  store.record_evaluation(run, wrong);
  EvaluationRecord unlucky = sample::rejected(0, 2, {Gate::kBuild, "no memory"});
  unlucky.config_json = R"({"TILE": 2})";
  store.record_evaluation(run, unlucky);
  EXPECT_FALSE(wrong.is_for_want_of_compiler());
  EXPECT_TRUE(unlucky.is_for_want_of_compiler());

  const StoredRun stored = store.run(run);
  const Insight insight = insight_of(store, stored, space_of(stored));
  EXPECT_EQ(insight.evaluations, 2U);
  EXPECT_EQ(insight.failed, 1U);
}

}  // namespace
}  // namespace evo
