#include "engine/predict/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/core/error.hpp"

namespace evo::test {
namespace {

TEST(Ranking, TheScoreSaysWhatTrustingThePredictionCosts) {
  const std::vector<double> measured = {10, 11, 12, 15, 40};
  const std::vector<double> predicted = {12, 11, 12, 15, 20};
  const RankScore score = rank_score(measured, predicted);
  EXPECT_EQ(score.kernels, 5U);
  EXPECT_EQ(score.near, 4U);
  EXPECT_NEAR(score.loss, 0.1, 1e-12);  // the lowest prediction belongs to 11, not to 10
  for (const double loss : score.loss_of_shortlist) EXPECT_NEAR(loss, 0, 1e-12);
  EXPECT_NEAR(score.median_error, 0, 1e-12);
  EXPECT_LT(score.spearman_near, score.spearman);
}

TEST(Ranking, WithoutKernelsThereIsNoScore) {
  EXPECT_THROW((void)rank_score({}, {}), InputError);
  EXPECT_THROW((void)rank_score(std::vector<double>{1}, std::vector<double>{1, 2}), InputError);
}

}  // namespace
}  // namespace evo::test
