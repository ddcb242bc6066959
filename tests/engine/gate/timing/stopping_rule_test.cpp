#include "engine/gate/timing/stopping_rule.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "engine/core/random.hpp"

namespace evo {
namespace {

/// Adds samples until the stopping rule is satisfied. Returns the number of samples.
template <typename Sample>
std::size_t samples_taken(StoppingRule& rule, Sample sample) {
  while (!rule.is_finished()) rule.add_measurement(sample(rule.samples_us().size()));
  return rule.samples_us().size();
}

TEST(StoppingRule, SteadyTimesNeedTheLeastSamples) {
  StoppingRule rule{StoppingOptions{}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t) { return 10.0; }), 100U);
  EXPECT_FALSE(rule.stopped_early());
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
  // The median's standard error is 1.25 σ/√n, so a 95 % confidence interval of ±0.2 % needs n ≈
  // (1.96 · 1.25 · 0.02 / 0.002)² samples.
  const double predicted = 600;
  EXPECT_GT(static_cast<double>(rule.samples_us().size()), predicted / 2);
  EXPECT_LT(static_cast<double>(rule.samples_us().size()), predicted * 2);
}

TEST(StoppingRule, StopsEarlyAtOnceIfFarSlower) {
  StoppingRule rule{StoppingOptions{.early_stop_us = 20}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t) { return 41.0; }), 5U);
  EXPECT_TRUE(rule.stopped_early());
}

TEST(StoppingRule, TheFurtherBeyondTheFewerSamplesAreNeeded) {
  const StoppingOptions options{
      .early_stop_us = 1e5,
      .early_stop = {{.samples = 3, .times = 1.05}, {.samples = 2, .times = 1.2}}};
  for (const auto& [us, samples] : {std::pair(1.3e5, 2U), std::pair(1.1e5, 3U)}) {
    StoppingRule rule{options};
    EXPECT_EQ(samples_taken(rule, [us = us](std::size_t) { return us; }), samples);
    EXPECT_TRUE(rule.stopped_early());
  }
  StoppingRule near{options};
  samples_taken(near, [](std::size_t i) { return i == 0 ? 1.04e5 : 1.3e5; });
  EXPECT_GE(near.samples_us().size(), 20U);
}

TEST(StoppingRule, GivesUpOnWhatIsSurelySlower) {
  StoppingRule rule{StoppingOptions{.early_stop_us = 20}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t i) { return i == 4 ? 19.0 : 21.0; }), 20U);
  EXPECT_TRUE(rule.stopped_early());
}

TEST(StoppingRule, ALittleSlowerMayBeAnotherMinute) {
  StoppingRule rule{StoppingOptions{.early_stop_us = 20}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t) { return 20.39; }), 100U);
  EXPECT_FALSE(rule.stopped_early());
  StoppingRule beyond{StoppingOptions{.early_stop_us = 20}};
  EXPECT_EQ(samples_taken(beyond, [](std::size_t) { return 20.41; }), 20U);
}

TEST(StoppingRule, NoiseIsNoReasonToGiveUp) {
  // The kernel is as fast as the last member of the elite, whose time is the early-stop limit, and
  // times scatter by 10 %.
  int stopped_early = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    StoppingRule rule{StoppingOptions{.early_stop_us = 10}};
    samples_taken(rule, [&](std::size_t) { return 10 * (1 + 0.1 * random.normal()); });
    stopped_early += rule.stopped_early() ? 1 : 0;
  }
  EXPECT_LE(stopped_early, 3);
}

TEST(StoppingRule, WhatStartsSlowlyIsNotGivenUp) {
  StoppingRule rule{StoppingOptions{.early_stop_us = 20}};
  EXPECT_EQ(samples_taken(rule, [](std::size_t i) { return i < 15 ? 30.0 : 19.0; }), 100U);
  EXPECT_FALSE(rule.stopped_early());
}

TEST(StoppingRule, FewSamplesOfLongLaunchesSuffice) {
  const StoppingOptions few{
      .least_samples = 6, .most_samples = 8, .early_stop_us = 1e5, .samples_to_be_sure = 5};
  StoppingRule slow{few};
  EXPECT_EQ(samples_taken(slow, [](std::size_t) { return 1.1e5; }), 5U);
  EXPECT_TRUE(slow.stopped_early());
  StoppingRule fast{few};
  EXPECT_EQ(
      samples_taken(fast, [](std::size_t i) { return 0.9e5 + 10.0 * static_cast<double>(i); }), 6U);
  StoppingRule noisy{few};
  EXPECT_EQ(samples_taken(noisy, [](std::size_t i) { return i % 2 == 0 ? 0.5e5 : 0.9e5; }), 8U);
}

}  // namespace
}  // namespace evo
