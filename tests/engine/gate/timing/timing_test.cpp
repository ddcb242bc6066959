// Tests the timing gate with made-up times.

#include "engine/gate/timing/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/random.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

TEST(TimingGate, ReportsTheDistribution) {
  GateFixture fixture;
  Random random(1);
  fixture.time_us = [&](const auto&, std::int64_t) { return 10 * (1 + 0.01 * random.normal()); };
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  const TimingResult result =
      fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
  ASSERT_TRUE(result.timing.has_value());
  EXPECT_FALSE(result.rejection);
  EXPECT_EQ(result.timing->kind, TimeKind::kMeasured);
  EXPECT_NEAR(result.timing->p50_us, 10, 0.05);
  EXPECT_NEAR(result.timing->std_us, 0.1, 0.03);
  EXPECT_NEAR(result.timing->p90_us, 10 + 1.28 * 0.1, 0.06);
  EXPECT_GE(result.timing->samples, 100);
  EXPECT_TRUE(result.timing->complete);
  EXPECT_EQ(fixture.device->graphs_alive(), 0U);
}

TEST(TimingGate, FasterThanPhysicsIsARejection) {
  // 2000 operations at 100 TFLOP/s take 2e-5 µs. Bandwidth sets no bound, because 8 kB fit into L2.
  GateFixture fixture;
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  const Shape& shape = fixture.problem.shape("timed");
  EXPECT_DOUBLE_EQ(floor_us(fixture.device->info(), 2000, 8000), 2e-5);
  fixture.time_us = [](const auto&, std::int64_t) { return 1.9e-5; };
  const TimingResult fast = fixture.timing().time(kernel, shape, kSilent);
  ASSERT_TRUE(fast.rejection.has_value());
  EXPECT_EQ(fast.rejection->gate, Gate::kTiming);
  EXPECT_THAT(fast.rejection->reason, HasSubstr("below the roofline bound"));
  fixture.time_us = [](const auto&, std::int64_t) { return 2.1e-5; };
  EXPECT_FALSE(fixture.timing().time(kernel, shape, kSilent).rejection);
}

TEST(Floor, BandwidthCountsOnlyBeyondTheL2) {
  DeviceInfo info = fake::fake_info();
  EXPECT_DOUBLE_EQ(floor_us(info, 0, 1 << 20), 0);
  EXPECT_DOUBLE_EQ(floor_us(info, 0, 2e6), 2);  // 2 MB at 1000 GB/s
  EXPECT_DOUBLE_EQ(floor_us(info, 1e9, 2e6), 10);
  info.peak_tflops = 0;  // 0: the peak is unknown, so it sets no bound
  info.peak_bandwidth_gbs = 0;
  EXPECT_EQ(floor_us(info, 1e9, 1e9), 0);
}

TEST(TimingGate, TimesAgainWhatBecameSlowerWhileItWasTimed) {
  GateFixture fixture;
  int graphs = 0;
  fixture.time_us = [&](const auto&, std::int64_t) { return ++graphs < 90 ? 5.0 : 100.0; };
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  const TimingResult result =
      fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
  ASSERT_FALSE(result.rejection) << result.rejection->reason;
  EXPECT_EQ(result.timing->p50_us, 100);
  EXPECT_GE(result.timing->samples, 100);
}

TEST(TimingGate, StopsEarlyIfFarSlower) {
  GateFixture fixture;
  fixture.time_us = [](const auto&, std::int64_t) { return 50.0; };
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  TimingOptions options;
  options.stopping.early_stop_us = 20;
  const TimingResult result =
      fixture.timing(options).time(kernel, fixture.problem.shape("timed"), kSilent);
  ASSERT_TRUE(result.timing.has_value());
  EXPECT_FALSE(result.timing->complete);
  EXPECT_EQ(result.timing->samples, 5);
}

TEST(TimingGate, AShortKernelThatIsGivenUpIsVerifiedOnceOverPoison) {
  for (const bool is_wrong : {false, true}) {
    GateFixture fixture;
    fixture.time_us = [](const auto&, std::int64_t) { return 70.0; };
    int launches = 0;
    const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
      if (++launches > 1 && is_wrong) return std::optional<Fault>();
      return GateFixture::honest(launch);
    });
    TimingOptions options;
    options.stopping.early_stop_us = 60;
    options.is_busy = true;
    int verifications = 0;
    const auto count = [&](const std::string& step) {
      verifications += step.starts_with("verifying") ? 1 : 0;
    };
    const TimingResult result =
        fixture.timing(options).time(kernel, fixture.problem.shape("timed"), count);
    EXPECT_EQ(verifications, 1);
    ASSERT_EQ(result.rejection.has_value(), is_wrong);
    if (is_wrong) continue;
    EXPECT_FALSE(result.timing->complete);
    EXPECT_EQ(result.timing->samples, 6);
  }
}

TEST(TimingGate, AKernelThatHasKeptTheDeviceBusyIsGivenUpSooner) {
  GateFixture fixture;
  int graphs = 0;
  // The first samples do not show that the kernel is too slow.
  fixture.time_us = [&](const auto&, std::int64_t) { return ++graphs < 8 ? 66.0 : 64.0; };
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  TimingOptions options;
  options.stopping.early_stop_us = 61;
  const auto samples = [&](bool is_busy) {
    graphs = 0;
    options.is_busy = is_busy;
    const TimingResult result =
        fixture.timing(options).time(kernel, fixture.problem.shape("timed"), kSilent);
    EXPECT_FALSE(result.timing->complete);
    return result.timing->samples;
  };
  EXPECT_LT(samples(true), samples(false));
}

TEST(TimingGate, AKernelThatOnlyStartsSlowlyIsTimedAllTheSame) {
  GateFixture fixture;
  int graphs = 0;
  fixture.time_us = [&](const auto&, std::int64_t) { return ++graphs < 6 ? 70.0 : 60.0; };
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  TimingOptions options;
  options.stopping.early_stop_us = 60;
  options.is_busy = true;
  const TimingResult result =
      fixture.timing(options).time(kernel, fixture.problem.shape("timed"), kSilent);
  ASSERT_FALSE(result.rejection) << result.rejection->reason;
  EXPECT_TRUE(result.timing->complete);
  EXPECT_EQ(result.timing->p50_us, 60);
}

TEST(TimingGate, LongLaunchesAreTimedFewTimesAndVerified) {
  GateFixture fixture;
  fixture.time_us = [](const auto&, std::int64_t) { return 1e5; };
  int launches = 0;
  const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
    ++launches;
    return GateFixture::honest(launch);
  });
  const Shape& shape = fixture.problem.shape("timed");
  std::vector<std::string> steps;
  const TimingResult result =
      fixture.timing().time(kernel, shape, [&](const std::string& step) { steps.push_back(step); });
  ASSERT_FALSE(result.rejection) << result.rejection->reason;
  EXPECT_TRUE(result.timing->complete);
  EXPECT_EQ(result.timing->samples, 3);
  EXPECT_LE(launches, 5);       // a tenth of a second each
  EXPECT_GE(steps.size(), 4U);  // progress messages
  launches = 0;
  const PairResult pair = fixture.timing().compare_pair(kernel, kernel, shape, kSilent);
  EXPECT_EQ(pair.pairs, 2);
  EXPECT_EQ(launches, 4);  // planning and verification use launches of the pairs
  EXPECT_EQ(pair.verdict(), 0);
}

TEST(TimingGate, LongLaunchesAreGivenUpAfterTwoOrThreeAndVerifiedAllTheSame) {
  // A launch takes 20 ms. The more the launch time exceeds the early-stop limit, the fewer launches
  // the gate makes.
  const std::vector<std::pair<double, int>> cases = {{1.9e4, 3}, {1.5e4, 2}};
  for (const auto& [early_stop_us, most_launches] : cases) {
    for (const bool is_wrong : {false, true}) {
      GateFixture fixture;
      fixture.time_us = [](const auto&, std::int64_t) { return 2e4; };
      int launches = 0;
      const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
        // The wrong kernel computes results only in its first launch.
        if (++launches > 1 && is_wrong) return std::optional<Fault>();
        return GateFixture::honest(launch);
      });
      TimingOptions options;
      options.stopping.early_stop_us = early_stop_us;
      const TimingResult result =
          fixture.timing(options).time(kernel, fixture.problem.shape("timed"), kSilent);
      EXPECT_EQ(result.rejection.has_value(), is_wrong);
      EXPECT_LE(launches, most_launches);
      if (is_wrong) continue;
      EXPECT_FALSE(result.timing->complete);
      EXPECT_EQ(result.timing->samples, most_launches);
    }
  }
}

TEST(TimingGate, LongLaunchesThatAreFarTooSlowAreNotWarmedUp) {
  for (const bool rises : {false, true}) {
    GateFixture fixture;
    int launches = 0;
    // If the GPU's clock rises, the first two launches take twice as long as all later launches.
    fixture.time_us = [&](const auto&, std::int64_t) { return rises && launches > 2 ? 2e3 : 4e3; };
    const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
      ++launches;
      return GateFixture::honest(launch);
    });
    TimingOptions options;
    options.stopping.early_stop_us = 2.5e3;
    const TimingResult result =
        fixture.timing(options).time(kernel, fixture.problem.shape("timed"), kSilent);
    ASSERT_FALSE(result.rejection) << result.rejection->reason;
    EXPECT_EQ(result.timing->complete, rises);
    EXPECT_EQ(result.timing->p50_us, rises ? 2e3 : 4e3);
    if (rises) {
      EXPECT_GE(launches, 2 + 2 + 10);  // planning, slow launches, samples
    } else {
      EXPECT_LE(launches, 4);
    }
  }
}

TEST(TimingGate, WarmsUpAndRotatesInputs) {
  GateFixture fixture;
  std::map<const void*, int> inputs;
  const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
    ++inputs[launch.arguments[0]];
    return GateFixture::honest(launch);
  });
  (void)fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
  EXPECT_EQ(inputs.size(), 5U);  // one of them in new buffers
  EXPECT_EQ(std::ranges::count_if(inputs, [](const auto& input) { return input.second >= 100; }),
            4);
}

TEST(TimingGate, NoOutputHoldsTheResultOfTheInputsThatComeNext) {
  for (const double time_us : {0.5, 5.0, 60.0, 1000.0}) {  // graphs of 400, 40, 4 and 1 launches
    GateFixture fixture;
    fixture.time_us = [&](const auto&, std::int64_t) { return time_us; };
    int right_already = 0;
    int launches = 0;
    const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
      const float* y = launch.buffer<float>(1);
      right_already += y[0] == 2 * launch.buffer<float>(0)[0] + 1 ? 1 : 0;
      ++launches;
      return GateFixture::honest(launch);
    });
    const TimingResult result =
        fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
    EXPECT_FALSE(result.rejection) << result.rejection->reason;
    EXPECT_GE(launches, time_us > 100 ? 20 : 120);
    // The few launches that estimate the launch time may find the right result in their output; all
    // other launches must not.
    EXPECT_LE(right_already, 8) << time_us;
  }
}

TEST(TimingGate, ColdFlushesBeforeEverySample) {
  GateFixture fixture;
  TimingOptions options;
  options.cold = true;
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  const TimingResult result =
      fixture.timing(options).time(kernel, fixture.problem.shape("timed"), kSilent);
  EXPECT_GE(fixture.device->flushes(), result.timing->samples + options.warmups);
}

TEST(TimingGate, AFaultWhileTimingIsARejection) {
  GateFixture fixture;
  const LoadedKernel kernel = fixture.load("k", [](const fake::Launch& launch) {
    return launch.number < 200 ? std::optional<Fault>() : Fault{"lost", "", true};
  });
  const TimingResult result =
      fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
  ASSERT_TRUE(result.rejection.has_value());
  EXPECT_EQ(result.rejection->reason, "lost");
  EXPECT_TRUE(result.device_lost);
}

TEST(TimingGate, ADeviceThatPredictsIsAskedOnce) {
  GateFixture fixture("f32", true, TimeKind::kPredicted);
  const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
  const TimingResult result =
      fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
  EXPECT_EQ(result.timing->kind, TimeKind::kPredicted);
  EXPECT_EQ(result.timing->samples, 1);
  EXPECT_EQ(result.timing->p50_us, 5);
}

/// Returns the number of launches in one timing of a kernel.
int launches_of_a_timing() {
  GateFixture fixture;
  int launches = 0;
  (void)fixture.timing().time(fixture.load("k",
                                           [&](const fake::Launch& launch) {
                                             ++launches;
                                             return GateFixture::honest(launch);
                                           }),
                              fixture.problem.shape("timed"), kSilent);
  return launches;
}

TEST(TimingGate, AfterAFaultAtAnyLaunchNothingIsLaunched) {
  const int all = launches_of_a_timing();
  ASSERT_GT(all, 1000);
  for (int at = 0; at < all; at += at < all - 60 ? 37 : 1) {
    for (const bool lost : {false, true}) {
      GateFixture fixture;
      (void)fixture.check(fixture.load("honest", GateFixture::honest));
      int launches = 0;
      const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
        return launches++ < at ? GateFixture::honest(launch) : Fault{"illegal", "", lost};
      });
      const TimingResult result =
          fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
      ASSERT_TRUE(result.rejection) << at;
      EXPECT_EQ(result.rejection->reason, "illegal") << at;
      EXPECT_EQ(result.device_lost, lost) << at;
      EXPECT_FALSE(result.timing) << at;
      EXPECT_EQ(launches, at + 1) << "the kernel was launched again after the fault";
    }
  }
}

TEST(TimingGate, AGraphThatIsRefusedIsARejectionAndTheOthersAreReleased) {
  int made = 0;
  for (bool was_refused = true; was_refused; ++made) {
    GateFixture fixture;
    const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
    fixture.device->set_graphs(made);
    const TimingResult result =
        fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
    was_refused = result.rejection.has_value();
    if (was_refused) {
      EXPECT_EQ(result.rejection->reason, "the graph was refused") << made;
    }
    EXPECT_EQ(fixture.device->graphs_alive(), 0U) << made;
  }
  EXPECT_GT(made, 3);
}

TEST(TimingGate, APredictionThatFailsIsARejection) {
  GateFixture fixture("f32", true, TimeKind::kPredicted);
  const LoadedKernel faulty = fixture.load("faulty", [](const fake::Launch&) {
    return std::optional<Fault>(Fault{"illegal", "", true});
  });
  const Shape& shape = fixture.problem.shape("timed");
  const TimingResult result = fixture.timing().time(faulty, shape, kSilent);
  ASSERT_TRUE(result.rejection);
  EXPECT_EQ(result.rejection->reason, "illegal");
  EXPECT_TRUE(result.device_lost);
}

TEST(TimingGate, APredictionWithoutMemoryForTheWorkspaceIsARejection) {
  GateFixture fixture("f32", true, TimeKind::kPredicted);
  const LoadedKernel kernel = fixture.load("large", GateFixture::honest);
  const Shape& shape = fixture.problem.shape("timed");
  (void)fixture.timing().time(kernel, shape, kSilent);
  fixture.device->set_memory_bytes(10000);
  fixture.problem.templates.front().workspace.emplace("scratch", Expression("100000"));
  const TimingResult result = fixture.timing().time(kernel, shape, kSilent);
  ASSERT_TRUE(result.rejection);
  EXPECT_THAT(result.rejection->reason, HasSubstr("workspace does not fit"));
}

}  // namespace
}  // namespace evo
