#include "db/records.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

TEST(Records, NamesOfStatusesAndVerdictsAreReadAgain) {
  for (const RunStatus status :
       {RunStatus::kRunning, RunStatus::kFinished, RunStatus::kInterrupted, RunStatus::kFailed}) {
    EXPECT_EQ(run_status_from_string(to_string(status)), status);
  }
  for (const Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kTie}) {
    EXPECT_EQ(verdict_from_string(to_string(verdict)), verdict);
  }
  EXPECT_THROW((void)run_status_from_string("done"), InputError);
  EXPECT_THROW((void)verdict_from_string(""), InputError);
}

TEST(Records, ABuildThatFailedWithoutAStoredCompilationIsForWantOfTheCompiler) {
  EvaluationRecord record = sample::rejected(0, 0, {Gate::kBuild, "out of memory"});
  EXPECT_TRUE(record.is_for_want_of_compiler());
  record.compilation = 1;
  EXPECT_FALSE(record.is_for_want_of_compiler()) << "the compiler answered";
  EXPECT_FALSE(sample::rejected(0, 0, {Gate::kTiming, "no"}).is_for_want_of_compiler());
}

TEST(Records, ARunOfEvoRecordSaysItsAim) {
  RunInfo info = sample::run_info();
  EXPECT_FALSE(is_recording(info));
  info.options_json = R"({"aim":"record"})";
  EXPECT_TRUE(is_recording(info));
}

}  // namespace
}  // namespace evo
