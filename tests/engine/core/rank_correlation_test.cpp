#include "engine/core/rank_correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace evo::test {
namespace {

TEST(RankCorrelation, OrderAloneCountsForSpearman) {
  const std::vector<double> measured = {5, 6, 9, 20};
  EXPECT_DOUBLE_EQ(spearman(measured, std::vector<double>{1, 2, 3, 1000}), 1);
  EXPECT_DOUBLE_EQ(spearman(measured, std::vector<double>{4, 3, 2, 1}), -1);
}

TEST(RankCorrelation, EqualValuesShareTheirRank) {
  // The expected value was computed by hand from the ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3.
  const std::vector<double> a = {1, 2, 2, 3};
  const std::vector<double> b = {1, 2, 3, 4};
  EXPECT_NEAR(spearman(a, b), 4.5 / std::sqrt(4.5 * 5), 1e-12);
  EXPECT_TRUE(std::isnan(spearman(std::vector<double>{1, 1}, std::vector<double>{1, 2})));
}

TEST(RankCorrelation, KendallCountsPairs) {
  const std::vector<double> a = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(kendall(a, std::vector<double>{10, 20, 30, 40}), 1);
  // One of the six pairs is discordant.
  EXPECT_DOUBLE_EQ(kendall(a, std::vector<double>{1, 2, 4, 3}), 4.0 / 6);
  // With one tie in the second list, five of the six pairs are concordant, and the denominator is
  // sqrt(6 · 5).
  EXPECT_NEAR(kendall(a, std::vector<double>{1, 2, 2, 3}), 5 / std::sqrt(30.0), 1e-12);
  EXPECT_TRUE(std::isnan(kendall(std::vector<double>{1, 1}, std::vector<double>{1, 2})));
}

}  // namespace
}  // namespace evo::test
