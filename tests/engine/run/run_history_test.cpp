#include "engine/run/run_history.hpp"

#include <gtest/gtest.h>

#include "tests/db/sample.hpp"

namespace evo {
namespace {

TEST(RunHistory, GivesEachEvaluationOnceAndOnlyForItsOwnConfiguration) {
  const EvaluationRecord first = sample::green(0, 1, 1, 10);
  RunHistory history({first, sample::green(1, 1, 1, 20)}, {});
  ASSERT_EQ(history.size(), 2U);
  EXPECT_TRUE(history.knows({0, 1}, first.config_json));
  EXPECT_FALSE(history.knows({0, 1}, "{}")) << "another version may have proposed another one";
  EXPECT_FALSE(history.knows({1, 0}, first.config_json));
  EXPECT_EQ(history.take({0, 1}).timing->p50_us, 10);
  EXPECT_FALSE(history.knows({0, 1}, first.config_json));
  EXPECT_EQ(history.size(), 1U);
}

TEST(RunHistory, GivesTheGenerationsInTheirOrder) {
  std::vector<StoredGeneration> stored(2);
  stored[0].record.elite = {7};
  stored[1].record.number = 1;
  RunHistory history({}, stored);
  EXPECT_EQ(history.take_generation()->elite, std::vector<CandidateId>{7});
  EXPECT_EQ(history.take_generation()->number, 1);
  EXPECT_FALSE(history.take_generation().has_value());
}

}  // namespace
}  // namespace evo
