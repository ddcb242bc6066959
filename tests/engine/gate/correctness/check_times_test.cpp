#include "engine/gate/correctness/check_times.hpp"

#include <gmock/gmock.h>

namespace evo {
namespace {

const CheckTimes::Place kBusy{"timed", false};
const CheckTimes::Place kIdle{"timed", true};

/// A CheckTimes that knows three kernels, whose check launches took 1.1, 1.2 and 1.3 times as long
/// as their timed launches.
CheckTimes taught() {
  CheckTimes times;
  for (const double ratio : {1.2, 1.1, 1.3}) times.learn(kBusy, 1000 * ratio, 1000);
  return times;
}

TEST(CheckTimes, NothingIsSurelySlowerWhileFewKernelsAreKnown) {
  CheckTimes times;
  times.learn(kBusy, 100, 100);
  times.learn(kBusy, 100, 100);
  EXPECT_FALSE(times.is_surely_slower(kBusy, 1e9, 1));
  times.learn(kBusy, 100, 100);
  EXPECT_TRUE(times.is_surely_slower(kBusy, 1e9, 1));
  EXPECT_FALSE(times.is_surely_slower(kIdle, 1e9, 1))
      << "no kernel was checked on an idle GPU yet, whose clocks may be low";
  EXPECT_FALSE(times.is_surely_slower({"other", false}, 1e9, 1));
}

TEST(CheckTimes, AKernelThatMayBeAsFastAsTheLimitIsNotSurelySlower) {
  const CheckTimes times = taught();
  EXPECT_FALSE(times.is_surely_slower(kBusy, 1300, 1000))
      << "the check launch of a known kernel took 1.3 times as long as its timed launch";
  EXPECT_FALSE(times.is_surely_slower(kBusy, 1300 * 1.05, 1000));
  EXPECT_TRUE(times.is_surely_slower(kBusy, 1300 * 1.1, 1000));
  EXPECT_FALSE(times.is_surely_slower(kBusy, 6, 1))
      << "most of a time of 6 µs may be launch overhead";
}

TEST(CheckTimes, VeryLongLaunchesDifferLess) {
  CheckTimes times;
  for (const double ratio : {1.0, 1.001, 1.002}) times.learn(kBusy, 1e5 * ratio, 1e5);
  EXPECT_FALSE(times.is_surely_slower(kBusy, 1.01e5, 1e5));
  EXPECT_TRUE(times.is_surely_slower(kBusy, 1.03e5, 1e5));
  EXPECT_FALSE(times.is_surely_slower(kBusy, 1.03e3, 1e3));
}

TEST(CheckTimes, ARoughTimeHasTheIntervalOfTheKnownKernels) {
  const Timing timing = taught().timing_of(kBusy, 2400, 2);
  EXPECT_NEAR(timing.p50_us, 2400 - 200, 1e-9)
      << "the median difference, 200 µs, gives a longer time than the median ratio";
  EXPECT_NEAR(taught().timing_of(kBusy, 600, 2).p50_us, 500, 1e-9)
      << "the median ratio, 1.2, gives a longer time than the median difference";
  EXPECT_FALSE(timing.complete);
  EXPECT_EQ(timing.samples, 2);
  EXPECT_LT(timing.p50_us - 2 * timing.std_us, 2400 / 1.3);
  EXPECT_GT(timing.p90_us, 2400 / 1.1);
}

TEST(CheckTimes, WhatTookNoTimeTeachesNothing) {
  CheckTimes times;
  for (int i = 0; i < 5; ++i) times.learn(kBusy, 0, 100);
  EXPECT_FALSE(times.knows(kBusy));
}

}  // namespace
}  // namespace evo
