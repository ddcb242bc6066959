#include "engine/core/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/random.hpp"

namespace evo {
namespace {

TEST(Statistics, QuantilesMatchNumPy) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 3.0);  // numpy.quantile([1,2,4,8], .5)
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.9), 6.8);  // numpy.quantile([1,2,4,8], .9)
  EXPECT_DOUBLE_EQ(quantile(sorted, 1.0), 8.0);
}

TEST(Statistics, SummaryHasSampleDeviation) {
  const Timing timing = summarize({5, 1, 3}, TimeKind::kMeasured);
  EXPECT_DOUBLE_EQ(timing.p50_us, 3);
  EXPECT_DOUBLE_EQ(timing.mean_us, 3);
  EXPECT_DOUBLE_EQ(timing.std_us, 2);
  EXPECT_DOUBLE_EQ(timing.cv, 2.0 / 3.0);
  EXPECT_EQ(timing.samples, 3);
}

TEST(Statistics, MedianIntervalCoversTheMedianAsOftenAsItSays) {
  Random random(3);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(50);
    for (double& value : values) value = random.uniform();
    std::sort(values.begin(), values.end());
    const Interval interval = median_interval(values);
    covered += interval.low <= 0.5 && 0.5 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, kTrials * 94 / 100);
}

}  // namespace
}  // namespace evo
