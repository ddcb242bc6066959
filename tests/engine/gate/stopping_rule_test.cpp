#include "engine/gate/stopping_rule.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "engine/core/random.hpp"

namespace evo {
namespace {

/// Feeds samples until the rule has enough of them; how many that took.
template <typename Sample>
std::size_t samples_taken(StoppingRule& rule, Sample sample) {
  while (!rule.is_finished()) rule.add_measurement(sample(rule.samples_us().size()));
  return rule.samples_us().size();
}

TEST(StoppingRule, SteadyTimesNeedTheLeastSamples) {
  StoppingRule rule{StoppingOptions{}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t) { return 10.0; }), 100U);
  EXPECT_FALSE(rule.gave_up());
}

TEST(StoppingRule, NoisyTimesNeedMoreButNotForEver) {
  Random random(3);
  StoppingRule noisy{StoppingOptions{}};
  EXPECT_EQ(samples_taken(noisy, [&](std::size_t) { return 10 + 5 * random.uniform(); }), 400U);
  StoppingRule fair{StoppingOptions{}};
  const std::size_t taken =
      samples_taken(fair, [&](std::size_t) { return 10 * (1 + 0.03 * random.normal()); });
  EXPECT_GT(taken, 100U);
  EXPECT_LT(taken, 400U);
}

TEST(StoppingRule, StopsOnlyWhenTheIntervalIsAsNarrowAsAsked) {
  Random random(4);
  StoppingRule rule{StoppingOptions{.most_samples = 100000, .relative_interval = 0.002}};
  std::vector<double> samples;
  samples_taken(rule, [&](std::size_t) { return 10 * (1 + 0.02 * random.normal()); });
  // ± 1.25 σ/√n of the median, 95 %: n ≈ (1.96 · 1.25 · 0.02 / 0.002)².
  const double predicted = 600;
  EXPECT_GT(static_cast<double>(rule.samples_us().size()), predicted / 2);
  EXPECT_LT(static_cast<double>(rule.samples_us().size()), predicted * 2);
}

TEST(StoppingRule, GivesUpOnTheHopelessAtOnce) {
  StoppingRule rule{StoppingOptions{.give_up_us = 20}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t) { return 21.0; }), 5U);
  EXPECT_TRUE(rule.gave_up());
}

TEST(StoppingRule, OneFastSampleIsAReasonToGoOn) {
  StoppingRule rule{StoppingOptions{.give_up_us = 20}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t i) { return i == 4 ? 19.0 : 21.0; }), 100U);
  EXPECT_FALSE(rule.gave_up());
}

TEST(StoppingRule, LateGivingUpIsNotTooLate) {
  // The fastest of all counts: a lucky early sample keeps it going, so it never gives up.
  StoppingRule rule{StoppingOptions{.give_up_us = 20}};
  rule.add_measurement(19);
  for (int i = 0; i < 50; ++i) rule.add_measurement(40);
  EXPECT_FALSE(rule.gave_up());
}

}  // namespace
}  // namespace evo
