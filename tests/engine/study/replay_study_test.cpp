// Tests that the repeated searches of a study may run on several threads. The build with the thread
// sanitizer also runs this test.
#include "engine/study/replay_study.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "engine/evolve/strategies.hpp"
#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

StudyOptions options(std::size_t jobs) {
  return {.repeats = 8, .budget = 60, .to_cutoff = false, .jobs = jobs};
}

TEST(StudyThreads, TheNumberOfThreadsChangesNothing) {
  const RecordedSpace space = bumpy_space();
  for (const auto make : {make_random, make_genetic, make_insight}) {
    const StudyResult one = run_study(space, make, options(1));
    const StudyResult four = run_study(space, make, options(4));
    EXPECT_EQ(one.evaluations, 8U * 60);
    EXPECT_EQ(one.evaluations, four.evaluations);
    EXPECT_EQ(one.score.mean, four.score.mean);
    for (std::size_t i = 0; i < kReportedBudgets.size(); ++i)
      EXPECT_EQ(one.fraction[i].mean, four.fraction[i].mean);
  }
}

TEST(StudyThreads, WhatARepeatThrowsIsThrown) {
  const RecordedSpace space = bumpy_space();
  std::atomic<int> made = 0;
  const auto fails = [&](const CandidateSpace& of,
                         const StrategyOptions& with) -> std::unique_ptr<Strategy> {
    if (++made == 3) throw std::runtime_error("no strategy");
    return make_random(of, with);
  };
  EXPECT_THROW((void)run_study(space, fails, options(4)), std::runtime_error);
}

}  // namespace
}  // namespace evo
