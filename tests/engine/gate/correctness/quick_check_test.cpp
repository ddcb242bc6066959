// Tests the quick check, which makes few launches of slow kernels, and ends early for
// kernels that cannot enter the elite.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/gate/correctness/correctness.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo {
namespace {

using fake::Launch;

constexpr int kSizeArgument = 3;

/// A check (by default a quick check) of a right kernel, whose launches on the timed shape take
/// `ms` by a made-up clock.
struct QuickCheck {
  explicit QuickCheck(double ms, CheckKind check_kind = CheckKind::kQuick) {
    double now = 0;
    const LoadedKernel kernel = fixture.load("k", [&](const Launch& launch) {
      const bool is_timed = launch.scalar<int>(kSizeArgument) == 1000;
      now += is_timed ? ms : 0.01;
      launches += is_timed ? 1 : 0;
      return GateFixture::honest(launch);
    });
    result = fixture.check(kernel, {.now_ms = [&] { return now; }}, check_kind);
  }

  [[nodiscard]] std::ptrdiff_t seeds_of(const std::string& shape) const {
    return std::ranges::count(result.checks, shape, &CheckResult::shape);
  }

  GateFixture fixture;
  int launches = 0;
  CorrectnessResult result;
};

/// A quick check of a kernel whose launches take `launch_us`, with a time limit of `limit_us` for
/// the timed shape. If `is_wrong`, the kernel's result on the timed shape is wrong. If `is_known`,
/// three earlier kernels have shown that check launches take as long as timed launches.
struct Limited {
  Limited(double launch_us, double limit_us, bool is_wrong = false, bool is_known = true) {
    fixture.time_us = [&](const fake::Program&, std::int64_t) { return launch_us; };
    for (int i = 0; i < 3 && is_known; ++i) times.learn({"timed", false}, 100, 100);
    const LoadedKernel kernel = fixture.load("k", [&](const Launch& launch) {
      const bool is_timed = launch.scalar<int>(kSizeArgument) == 1000;
      launches += is_timed ? 1 : 0;
      const auto fault = GateFixture::honest(launch);
      if (is_timed && is_wrong) launch.buffer<float>(1)[7] += 1;
      return fault;
    });
    result = fixture.check(kernel, {}, CheckKind::kQuick, {&times, false, {{"timed", limit_us}}});
  }

  CheckTimes times;
  GateFixture fixture;
  int launches = 0;
  CorrectnessResult result;
};

TEST(CorrectnessGate, AQuickCheckOfAKernelThatIsSurelySlowerEndsAfterThreeLaunches) {
  const Limited slow(500, 100);
  EXPECT_FALSE(slow.result.rejection);
  EXPECT_FALSE(slow.result.complete);
  EXPECT_EQ(slow.launches, 3);
  ASSERT_EQ(slow.result.times.size(), 1U);
  ASSERT_TRUE(slow.result.times.front().too_slow);
  EXPECT_EQ(slow.result.times.front().too_slow->p50_us, 500);
  EXPECT_EQ(std::ranges::count(slow.result.checks, "small", &CheckResult::shape), 5)
      << "the other shapes are checked with all seeds";
}

TEST(CorrectnessGate, OneVeryLongLaunchIsEnough) {
  EXPECT_EQ(Limited(50e3, 20e3).launches, 1);
  EXPECT_EQ(Limited(5e3, 2e3).launches, 3);
}

TEST(CorrectnessGate, AKernelThatMayBeFastEnoughIsCheckedToTheEnd) {
  for (const Limited& fast : {Limited(100, 100), Limited(500, 100, false, false)}) {
    EXPECT_TRUE(fast.result.complete);
    EXPECT_EQ(fast.launches, 6);
    ASSERT_EQ(fast.result.times.size(), 1U);
    EXPECT_FALSE(fast.result.times.front().too_slow);
  }
}

TEST(CorrectnessGate, ASlowKernelThatIsWrongIsRejected) {
  for (const double launch_us : {500.0, 50e3}) {
    const Limited wrong(launch_us, 100, true);
    EXPECT_THAT(reason_of(wrong.result), HasSubstr("shape timed"));
    EXPECT_TRUE(wrong.result.times.empty());
  }
}

TEST(CorrectnessGate, AQuickCheckOfShortLaunchesIsComplete) {
  const QuickCheck quick(0.9);
  EXPECT_TRUE(quick.result.complete);
  EXPECT_EQ(quick.launches, 6);
  EXPECT_EQ(quick.seeds_of("timed"), 5);
}

TEST(CorrectnessGate, AQuickCheckMakesFewLongLaunchesAndSaysSo) {
  const std::map<double, std::pair<int, int>> launches_and_seeds = {
      {1.2, {6, 5}}, {2.0, {5, 4}}, {4.0, {2, 1}}, {9.0, {2, 1}}, {40.0, {2, 1}}, {100.0, {1, 1}}};
  for (const auto& [ms, expected] : launches_and_seeds) {
    const QuickCheck quick(ms);
    EXPECT_EQ(reason_of(quick.result), "passed");
    EXPECT_EQ(quick.launches, expected.first) << ms;
    EXPECT_EQ(quick.seeds_of("timed"), expected.second) << ms;
    EXPECT_EQ(quick.seeds_of("small"), 5) << ms;
    EXPECT_EQ(quick.result.complete, expected.first == 6) << ms;
  }
}

TEST(CorrectnessGate, AFirstLaunchThatTakesLongerIsNoReasonToScreenLess) {
  GateFixture fixture;
  double now = 0;
  const LoadedKernel kernel = fixture.load("k", [&](const Launch& launch) {
    now += launch.number == 0 ? 30 : 0.01;  // the first launch loads the kernel
    return GateFixture::honest(launch);
  });
  const CorrectnessResult result =
      fixture.check(kernel, {.now_ms = [&] { return now; }}, CheckKind::kQuick);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.checks.size(), 10U);
}

TEST(CorrectnessGate, AFullCheckLeavesNothingOut) {
  const QuickCheck full(100, CheckKind::kFull);
  EXPECT_TRUE(full.result.complete);
  EXPECT_EQ(full.launches, 6);
  EXPECT_EQ(full.seeds_of("timed"), 5);
}

}  // namespace
}  // namespace evo
