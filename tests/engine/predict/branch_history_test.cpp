// Tests the recording of a branch's executions and their replay.
#include "engine/predict/branch_history.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace evo::test {
namespace {

BranchHistory history_of(const std::vector<bool>& executions) {
  BranchHistory history;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    if (executions[i]) history.note_taken(i);
  }
  history.end(executions.size());
  return history;
}

TEST(BranchHistory, ReplaysTheExecutionsInOrderAndRepeatsThem) {
  for (const std::vector<bool>& executions : std::vector<std::vector<bool>>{
           {true}, {false, true}, {true, true, false, false, true}, {false, false, true, false}}) {
    const BranchHistory history = history_of(executions);
    BranchReplay replay;
    for (int pass = 0; pass < 3; ++pass) {
      for (const bool is_taken : executions) EXPECT_EQ(replay.next(history), is_taken);
    }
  }
}

TEST(BranchHistory, KnowsTheShareOfTakenExecutions) {
  EXPECT_DOUBLE_EQ(history_of({true, false, true, true}).share(), 0.75);
  EXPECT_DOUBLE_EQ(BranchHistory{}.share(), 0);
}

TEST(BranchHistory, EndsAfterItsLastRunIfThereAreTooManyRuns) {
  BranchHistory history;
  for (std::uint64_t i = 0; i < BranchHistory::kMostRuns + 10; ++i) history.note_taken(2 * i);
  history.end(2 * (BranchHistory::kMostRuns + 10));
  EXPECT_EQ(history.taken.size(), BranchHistory::kMostRuns);
  EXPECT_EQ(history.executions, 2 * BranchHistory::kMostRuns - 1);
}

}  // namespace
}  // namespace evo::test
