// Tests, with made-up clocks, loads and processes of a GPU, which samples a GpuWatch discards
// because the GPU was throttled, and what it reports about the GPU.

#include "engine/gate/gpu/gpu_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/gate/gate_fixture.hpp"
#include "tests/fakes/fake_monitor.hpp"

namespace evo {
namespace {

using testing::ElementsAre;

const Progress kQuietWatch = [](const std::string&) {};

GpuPace at_mhz(double mhz, std::vector<Slowdown> slowdowns = {}) {
  return {mhz, std::move(slowdowns)};
}

/// A GpuWatch on a fake GPU monitor; it counts its pauses instead of waiting.
struct Watched {
  fake::FakeMonitor monitor;
  int pauses = 0;
  GpuWatch watch{&monitor, [this](std::chrono::milliseconds) { ++pauses; }};
};

TEST(GpuWatch, WithoutAMonitorEverythingCounts) {
  GpuWatch watch(nullptr);
  watch.look_for_others();
  watch.begin();
  EXPECT_FALSE(watch.is_due(1e9));
  EXPECT_TRUE(watch.accepts(10));
  EXPECT_FALSE(watch.state().has_value());
}

TEST(GpuWatch, TellsTheLowestAndTheMedianClock) {
  Watched gpu;
  gpu.monitor.state = {.memory_clock_mhz = 2619, .temperature_c = 40, .power_w = 300};
  gpu.monitor.on_pace = [](int look) { return at_mhz(look == 2 ? 1900 : 1980); };
  gpu.watch.begin();
  for (int batch = 0; batch < 3; ++batch) EXPECT_TRUE(gpu.watch.accepts(10));
  const GpuState state = gpu.watch.state().value();
  EXPECT_EQ(state.looks, 3);
  EXPECT_EQ(state.sm_clock_min_mhz, 1900);
  EXPECT_EQ(state.sm_clock_median_mhz, 1980);
  EXPECT_EQ(state.memory_clock_mhz, 2619);
  EXPECT_EQ(state.temperature_c, 40);
  EXPECT_EQ(state.power_w, 300);
  EXPECT_EQ(state.discarded, 0);
  EXPECT_FALSE(state.throttled);
}

TEST(GpuWatch, SamplesOfAThrottledGpuDoNotCount) {
  for (const Slowdown slowdown : {Slowdown::kHardware, Slowdown::kSoftwareThermal,
                                  Slowdown::kHardwareThermal, Slowdown::kPowerBrake}) {
    Watched gpu;
    gpu.monitor.on_pace = [&](int look) {
      return look == 1 ? at_mhz(1980, {slowdown}) : at_mhz(1980);
    };
    gpu.watch.begin();
    EXPECT_FALSE(gpu.watch.accepts(7));
    EXPECT_EQ(gpu.pauses, 1);
    EXPECT_TRUE(gpu.watch.accepts(7));
    EXPECT_EQ(gpu.watch.state()->discarded, 7);
    EXPECT_FALSE(gpu.watch.state()->throttled);
    EXPECT_THAT(gpu.watch.state()->slowdowns, ElementsAre(slowdown));
  }
}

TEST(GpuWatch, ThePowerCapIsANote) {
  Watched gpu;
  gpu.monitor.on_pace = [](int) { return at_mhz(1700, {Slowdown::kPowerCap}); };
  gpu.watch.begin();
  EXPECT_TRUE(gpu.watch.accepts(10));
  EXPECT_THAT(gpu.watch.state()->slowdowns, ElementsAre(Slowdown::kPowerCap));
  EXPECT_FALSE(gpu.watch.state()->throttled);
}

TEST(GpuWatch, AClockBelowItsShareOfTheFirstIsThrottled) {
  for (const double mhz : {1500.0, 1499.0}) {
    Watched gpu;
    gpu.monitor.on_pace = [&](int look) { return at_mhz(look == 0 ? 2000 : mhz); };
    gpu.watch.begin();
    EXPECT_EQ(gpu.watch.accepts(10), mhz == 1500.0) << mhz;
  }
}

TEST(GpuWatch, NeverAllSamplesAreThrownAway) {
  Watched gpu;
  gpu.monitor.on_pace = [](int) { return at_mhz(300, {Slowdown::kHardwareThermal}); };
  gpu.watch.begin();
  int refused = 0;
  while (!gpu.watch.accepts(10)) ++refused;
  EXPECT_EQ(refused, GpuWatch::kMostRefusals);
  EXPECT_TRUE(gpu.watch.state()->throttled);
  EXPECT_EQ(gpu.watch.state()->discarded, 10 * GpuWatch::kMostRefusals);
  EXPECT_TRUE(gpu.watch.accepts(10)) << "the watch may not refuse more samples";
  // For the next kernel on the same throttled GPU, the watch refuses samples only once.
  gpu.watch.begin();
  EXPECT_FALSE(gpu.watch.accepts(10));
  EXPECT_TRUE(gpu.watch.accepts(10));
  gpu.monitor.on_pace = [](int) { return at_mhz(1980); };
  gpu.watch.begin();
  EXPECT_TRUE(gpu.watch.accepts(10));
  // After the GPU has recovered once, the watch may refuse samples as often as at first.
  gpu.monitor.on_pace = [](int) { return at_mhz(300, {Slowdown::kHardwareThermal}); };
  gpu.watch.begin();
  refused = 0;
  while (!gpu.watch.accepts(10)) ++refused;
  EXPECT_EQ(refused, GpuWatch::kMostRefusals);
}

TEST(GpuWatch, LooksAtMostEveryTwoMilliseconds) {
  Watched gpu;
  gpu.watch.begin();
  EXPECT_FALSE(gpu.watch.is_due(1999));
  // The interval between queries of the clock may grow if queries are slow, so the test only
  // expects a query after 1000 s.
  EXPECT_TRUE(gpu.watch.is_due(1e9));
}

TEST(GpuWatch, OthersAreNamedWhereTheyAreListed) {
  Watched gpu;
  gpu.monitor.others = {"4711 (python3)"};
  gpu.monitor.on_busy = [] { return 80.0; };
  gpu.watch.look_for_others();
  EXPECT_EQ(gpu.pauses, 0);
  gpu.watch.begin();
  (void)gpu.watch.accepts(1);
  EXPECT_THAT(gpu.watch.state()->others, ElementsAre("4711 (python3)"));
  EXPECT_FALSE(gpu.watch.state()->busy_before_percent.has_value());
}

TEST(GpuWatch, AGpuThatOthersKeepBusyIsSaidToBe) {
  Watched gpu;
  int looks = 0;
  gpu.monitor.on_busy = [&] { return ++looks % 2 == 0 ? 35.0 : 60.0; };
  gpu.watch.look_for_others();
  gpu.watch.begin();
  (void)gpu.watch.accepts(1);
  EXPECT_EQ(gpu.watch.state()->busy_before_percent, 35);
}

TEST(GpuWatch, AGpuThatWasBusyAMomentAgoGetsASecond) {
  Watched gpu;
  int looks = 0;
  gpu.monitor.on_busy = [&] { return ++looks < 5 ? 90.0 : 0.0; };
  gpu.watch.look_for_others();
  EXPECT_EQ(gpu.pauses, 4);
  gpu.watch.begin();
  (void)gpu.watch.accepts(1);
  EXPECT_FALSE(gpu.watch.state()->busy_before_percent.has_value());
}

/// A timing gate on a fake GPU, which is throttled at those queries of its clock for which
/// `is_throttled` returns true. Launches before such a query take ten times as long.
struct ThrottledGate {
  explicit ThrottledGate(std::function<bool(int look)> is_throttled) {
    monitor.on_pace = [this, is_throttled](int look) {
      slow = is_throttled(look + 1);
      return is_throttled(look) ? at_mhz(500, {Slowdown::kHardwareThermal}) : at_mhz(1980);
    };
    fixture.time_us = [this](const auto&, std::int64_t) { return slow ? 50.0 : 5.0; };
  }
  [[nodiscard]] TimingResult time(double early_stop_us = 1e9) {
    GpuWatch watch(&monitor, [](std::chrono::milliseconds) {});
    TimingOptions options;
    options.stopping.early_stop_us = early_stop_us;
    constexpr std::size_t kFresh = 5;
    TimingGate gate(*fixture.work, fixture.problem, fixture.made->cases, fixture.made->judge, watch,
                    kFresh, options);
    return gate.time(fixture.load("k", GateFixture::honest), fixture.problem.shape("timed"),
                     kQuietWatch);
  }

  GateFixture fixture;
  fake::FakeMonitor monitor;
  bool slow = false;
};

TEST(GpuWatch, TheTimingGateTakesThrottledSamplesAgain) {
  ThrottledGate gate([](int look) { return look == 2 || look == 3; });
  const TimingResult result = gate.time();
  ASSERT_FALSE(result.rejection) << result.rejection->reason;
  EXPECT_DOUBLE_EQ(result.timing->p99_us, 5) << "no sample of the throttled GPU is left";
  EXPECT_GE(result.timing->samples, 100);
  ASSERT_TRUE(result.gpu.has_value());
  EXPECT_GT(result.gpu->discarded, 0);
  EXPECT_FALSE(result.gpu->throttled);
  EXPECT_THAT(result.gpu->slowdowns, ElementsAre(Slowdown::kHardwareThermal));
}

TEST(GpuWatch, TheTimingGateKeepsWhatAThrottledGpuHas) {
  ThrottledGate gate([](int) { return true; });
  gate.slow = true;
  const TimingResult result = gate.time();
  ASSERT_FALSE(result.rejection) << result.rejection->reason;
  EXPECT_DOUBLE_EQ(result.timing->p50_us, 50);
  EXPECT_TRUE(result.gpu->throttled);
}

TEST(GpuWatch, AKernelIsNotGivenUpForASlowGpu) {
  // All samples up to the first query of the clock after begin() are slow, so the kernel would
  // exceed the early-stop limit if the gate did not repeat these samples.
  ThrottledGate gate([](int look) { return look == 1; });
  gate.slow = true;
  const TimingResult result = gate.time(20);
  ASSERT_FALSE(result.rejection) << result.rejection->reason;
  EXPECT_TRUE(result.timing->complete);
  EXPECT_DOUBLE_EQ(result.timing->p50_us, 5);
  EXPECT_EQ(result.gpu->discarded, 5);
}

}  // namespace
}  // namespace evo
