#include "engine/run/run_progress.hpp"

#include <gtest/gtest.h>

#include "tests/db/sample.hpp"

namespace evo {
namespace {

TEST(RunProgress, CountsEachCandidateByItsOutcome) {
  RunProgress progress;
  EvaluationRecord copy = sample::duplicate(0, 1, 1);
  copy.timing = sample::timing(10);  // the outcome of the first candidate with this kernel
  progress.count(sample::green(0, 0, 1, 10));
  progress.count(copy);
  progress.count(sample::rejected(0, 2, {Gate::kBuild, "no"}));
  progress.count(EvaluationRecord{});
  EXPECT_EQ(progress.evaluated, 4U);
  EXPECT_EQ(progress.green, 1U);
  EXPECT_EQ(progress.duplicates, 1U);
  EXPECT_EQ(progress.rejected.at(Gate::kBuild), 1U);
  EXPECT_EQ(progress.unjudged, 1U);
}

}  // namespace
}  // namespace evo
