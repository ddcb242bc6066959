#include "engine/gate/timing/time_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace evo {
namespace {

TimeBudget budget_of(double launch_us) {
  const double sample_us = std::ceil(200 / launch_us) * launch_us;
  return {TimeBudget::Wanted{}, launch_us, sample_us};
}

TEST(TimeBudget, ShortLaunchesGetWhatIsWanted) {
  for (const double launch_us : {0.5, 5.0, 33.0, 60.0, 99.0, 100.0}) {
    const TimeBudget budget = budget_of(launch_us);
    EXPECT_EQ(budget.warmups(), 20) << launch_us;
    EXPECT_EQ(budget.least_samples(), 100U) << launch_us;
    EXPECT_EQ(budget.most_samples(), 400U) << launch_us;
    EXPECT_EQ(budget.pairs(), 60U) << launch_us;
  }
}

/// The seconds that the warm-ups and `samples` timed launches take.
double seconds(const TimeBudget& budget, double launch_us, std::size_t samples) {
  return (budget.warmups() + static_cast<double>(samples)) * launch_us / 1e6;
}

TEST(TimeBudget, GrowsWithTheLaunchButMoreSlowly) {
  const TimeBudget five_ms = budget_of(5000);
  EXPECT_NEAR(seconds(five_ms, 5000, five_ms.least_samples()), 0.08, 0.02);
  EXPECT_LT(seconds(five_ms, 5000, five_ms.most_samples()), 0.25);
  const TimeBudget tenth_of_a_second = budget_of(1e5);
  EXPECT_LT(seconds(tenth_of_a_second, 1e5, tenth_of_a_second.most_samples()), 1.0);
  double before = 0;
  for (double launch_us = 125; launch_us < 1e6; launch_us *= 2) {
    // The total time may fall when launches become long (1 ms) or very long (16 ms, the first
    // tested time above 10 ms), because fewer samples are enough from there on.
    if (launch_us == 1000 || launch_us == 16000) before = 0;
    const TimeBudget budget = budget_of(launch_us);
    const double now = seconds(budget, launch_us, budget.least_samples());
    EXPECT_GT(now, before);
    EXPECT_LE(budget.least_samples(), budget.most_samples());
    before = now;
  }
}

TEST(TimeBudget, NeverLessThanAVerdictNeeds) {
  const TimeBudget budget = budget_of(1e8);
  EXPECT_EQ(budget.warmups(), 1);
  EXPECT_EQ(budget.least_samples(), 3U);
  EXPECT_GE(budget.most_samples(), budget.least_samples());
  EXPECT_EQ(budget.pairs(), 10U);
}

TEST(TimeBudget, PairsComeInTwos) {
  for (double launch_us = 100; launch_us < 1e6; launch_us *= 1.1) {
    EXPECT_EQ(budget_of(launch_us).pairs() % 2, 0U) << launch_us;
  }
}

TEST(TimeBudget, FewerWantedSamplesAreNotMadeMore) {
  const TimeBudget budget({.warmups = 2, .least_samples = 2, .most_samples = 2}, 5, 200);
  EXPECT_EQ(budget.warmups(), 2);
  EXPECT_EQ(budget.least_samples(), 2U);
  EXPECT_EQ(budget.most_samples(), 2U);
}

}  // namespace
}  // namespace evo
