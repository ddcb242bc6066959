// The timing gate on made-up times.

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

const Progress kSilent = [](const std::string&) {};

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
  // 2000 operations at 100 TFLOP/s take 2e-5 µs; no bandwidth floor, since 8 kB fit the L2.
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
  info.peak_tflops = 0;  // unknown: no bound rather than a wrong one
  info.peak_bandwidth_gbs = 0;
  EXPECT_EQ(floor_us(info, 1e9, 1e9), 0);
}

TEST(TimingGate, GivesUpOnTheHopeless) {
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
  EXPECT_EQ(pair.pairs, 4);
  EXPECT_EQ(launches, 8);  // launches for planning and verification are halves of pairs
  EXPECT_EQ(pair.verdict(), 0);
}

TEST(TimingGate, LongLaunchesAreGivenUpAfterTwoOrThreeAndVerifiedAllTheSame) {
  // 20 ms per launch; the more it exceeds the limit, the fewer launches are made.
  const std::vector<std::pair<double, int>> cases = {{1.9e4, 3}, {1.5e4, 2}};
  for (const auto& [early_stop_us, most_launches] : cases) {
    for (const bool is_wrong : {false, true}) {
      GateFixture fixture;
      fixture.time_us = [](const auto&, std::int64_t) { return 2e4; };
      int launches = 0;
      const LoadedKernel kernel = fixture.load("k", [&](const fake::Launch& launch) {
        // It skips inputs that it has not met at another shape's addresses.
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
    // A rising clock: the first two launches take twice as long as all others.
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
      EXPECT_GE(launches, 2 + 2 + 10);  // to plan, the slow ones, samples
    } else {
      EXPECT_LE(launches, 4);
    }
  }
}

TEST(Pairs, APlainDifferenceNeedsFewPairsAndATieOfShortLaunchesAllOfThem) {
  for (const double launch_us : {5.0, 2e4}) {
    for (const double ratio : {1.0, 1.03}) {
      GateFixture fixture;
      const LoadedKernel first = fixture.load("first", GateFixture::honest);
      const LoadedKernel second = fixture.load("second", GateFixture::honest);
      fixture.time_us = [&](const fake::Program& program, std::int64_t sample) {
        const double noise = 1 + 0.0005 * static_cast<double>(sample % 3);
        return launch_us * noise * (program.entry == "second" ? ratio : 1);
      };
      const PairResult pair =
          fixture.timing().compare_pair(first, second, fixture.problem.shape("timed"), kSilent);
      EXPECT_EQ(pair.verdict(), ratio > 1 ? -1 : 0);
      const int fewest = launch_us < 1000 ? 6 : ratio > 1 ? 2 : 4;
      if (ratio > 1 || launch_us > 1000) {
        EXPECT_EQ(pair.pairs, fewest);
      } else {
        EXPECT_GE(pair.pairs, 60);
      }
    }
  }
}

TEST(Pairs, LongLaunchesThatScatterGetMorePairsUpToABound) {
  for (const auto& [launch_us, pairs] : {std::pair(5e3, 32), std::pair(2e4, 10)}) {
    GateFixture fixture;
    const LoadedKernel first = fixture.load("first", GateFixture::honest);
    const LoadedKernel second = fixture.load("second", GateFixture::honest);
    std::size_t launches = 0;
    fixture.time_us = [&, us = launch_us](const fake::Program& program, std::int64_t) {
      // The ratios lie on both sides of 1, with their median well above it.
      constexpr std::array kRatios = {1.03, 0.99, 1.01};
      return program.entry == "first" ? us * kRatios.at(launches++ % kRatios.size()) : us;
    };
    const PairResult pair =
        fixture.timing().compare_pair(first, second, fixture.problem.shape("timed"), kSilent);
    EXPECT_EQ(pair.pairs, pairs);
    EXPECT_EQ(pair.verdict(), 0);
  }
}

TEST(Pairs, OfLongLaunchesSixOrEightSettleWhatFourDoNot) {
  // Differences as large as the scatter, and two thirds of it; scatter about 1.
  for (const auto& [ratio, scatter, pairs, verdict] :
       {std::tuple(1.02, 0.012, 6, 1), std::tuple(1.02, 0.018, 8, 1),
        std::tuple(1.0, 0.012, 6, 0)}) {
    GateFixture fixture;
    const LoadedKernel first = fixture.load("first", GateFixture::honest);
    const LoadedKernel second = fixture.load("second", GateFixture::honest);
    std::size_t launches = 0;
    fixture.time_us = [&](const fake::Program& program, std::int64_t) {
      const double noise = launches++ % 4 < 2 ? -scatter / 2 : scatter / 2;
      return program.entry == "first" ? 2e4 * (ratio + noise) : 2e4;
    };
    const PairResult pair =
        fixture.timing().compare_pair(first, second, fixture.problem.shape("timed"), kSilent);
    EXPECT_EQ(pair.pairs, pairs);
    EXPECT_EQ(pair.verdict(), verdict);
  }
}

TEST(Pairs, OfLongLaunchesTheSameKernelTwiceIsATieAndTwoPercentAreFound) {
  constexpr int kComparisons = 1000;
  for (const auto& [second_us, least_ties, least_found] :
       {std::tuple(1e5, 990, 0), std::tuple(1.02e5, 0, 950)}) {
    GateFixture fixture;
    const LoadedKernel first = fixture.load("first", GateFixture::honest);
    const LoadedKernel second = fixture.load("second", GateFixture::honest);
    Random random(7);
    fixture.time_us = [&, us = second_us](const fake::Program& program, std::int64_t) {
      return (program.entry == "first" ? 1e5 : us) * (1 + 0.003 * random.normal());
    };
    int ties = 0;
    int found = 0;
    for (int i = 0; i < kComparisons; ++i) {
      const PairResult pair =
          fixture.timing().compare_pair(first, second, fixture.problem.shape("timed"), kSilent);
      ties += pair.verdict() == 0 ? 1 : 0;
      found += pair.verdict() < 0 ? 1 : 0;
    }
    EXPECT_GE(ties, least_ties);
    EXPECT_GE(found, least_found);
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
    // Only the first estimates, single launches, meet their own result.
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

/// Made-up noise of a device: independent scatter, an autocorrelated drift, and throttling.
struct Noise {
  double white = 0;   ///< standard deviation, relative
  double drift = 0;   ///< standard deviation of the first-order autoregressive part
  double memory = 0;  ///< its coefficient
  double bumps = 0;   ///< share of samples that take a fifth longer
  double slope = 0;   ///< relative change per sample, for ever
};

class NoisyClock {
 public:
  NoisyClock(const Noise& noise, std::uint64_t seed) : noise_(noise), random_(seed) {}
  double operator()(double true_us) {
    state_ = noise_.memory * state_ +
             std::sqrt(1 - noise_.memory * noise_.memory) * noise_.drift * random_.normal();
    const double bump = random_.uniform() < noise_.bumps ? 0.2 : 0.0;
    return true_us * (1 + noise_.slope * static_cast<double>(count_++)) *
           (1 + state_ + bump + noise_.white * random_.normal());
  }

 private:
  Noise noise_;
  Random random_;
  double state_ = 0;
  std::int64_t count_ = 0;
};

class Pairs : public testing::TestWithParam<Noise> {
 protected:
  /// Verdicts of A/B comparisons of a kernel of 5 µs with one of `second_us`.
  static std::map<int, int> verdicts(const Noise& noise, double second_us, int comparisons) {
    GateFixture fixture;
    const LoadedKernel first = fixture.load("first", GateFixture::honest);
    const LoadedKernel second = fixture.load("second", GateFixture::honest);
    std::map<int, int> counts;
    for (int i = 0; i < comparisons; ++i) {
      NoisyClock clock(noise, mix_seed(99, static_cast<std::uint64_t>(i)));
      fixture.time_us = [&](const fake::Program& program, std::int64_t) {
        return clock(program.entry == "first" ? 5.0 : second_us);
      };
      const PairResult result =
          fixture.timing().compare_pair(first, second, fixture.problem.shape("timed"), kSilent);
      ++counts[result.verdict()];
    }
    return counts;
  }
};

TEST_P(Pairs, TheSameKernelTwiceIsATie) {
  constexpr int kComparisons = 1000;
  const auto counts = verdicts(GetParam(), 5.0, kComparisons);
  EXPECT_GE(counts.contains(0) ? counts.at(0) : 0, 990);
}

TEST_P(Pairs, TwoPercentAreFoundAndNeverTheWrongWayRound) {
  constexpr int kComparisons = 200;
  auto slower = verdicts(GetParam(), 5.1, kComparisons);
  EXPECT_GE(slower[-1], 190);
  EXPECT_EQ(slower[1], 0);
  auto faster = verdicts(GetParam(), 4.9, kComparisons);
  EXPECT_GE(faster[1], 190);
  EXPECT_EQ(faster[-1], 0);
}

INSTANTIATE_TEST_SUITE_P(Noises, Pairs,
                         testing::Values(Noise{.white = 0.005}, Noise{.white = 0.01, .bumps = 0.05},
                                         Noise{.white = 0.002, .drift = 0.05, .memory = 0.98},
                                         Noise{.white = 0.005, .drift = 0.01, .memory = 0.7},
                                         Noise{.white = 0.002, .slope = 0.0005}));

TEST(Pairs, AFaultNamesTheKernelThatFailed) {
  for (const bool first_fails : {false, true}) {
    GateFixture fixture;
    const LoadedKernel good = fixture.load("good", GateFixture::honest);
    const LoadedKernel bad = fixture.load("bad", [](const fake::Launch& launch) {
      return launch.number < 500 ? GateFixture::honest(launch) : Fault{"lost", "", true};
    });
    const PairResult result =
        fixture.timing().compare_pair(first_fails ? bad : good, first_fails ? good : bad,
                                      fixture.problem.shape("timed"), kSilent);
    ASSERT_TRUE(result.rejection.has_value());
    EXPECT_EQ(result.rejection->reason, "lost");
    EXPECT_EQ(result.failed_first, first_fails);
    EXPECT_TRUE(result.device_lost);
  }
}

TEST(Pairs, AVerdictNeedsAnIntervalBeyondTheLeastEffect) {
  const auto verdict = [](double low, double high) {
    PairResult pair;
    pair.interval = {low, high};
    return pair.verdict();
  };
  EXPECT_EQ(verdict(0.98, 0.99), -1);
  EXPECT_EQ(verdict(1.01, 1.02), 1);
  EXPECT_EQ(verdict(0.99, 0.998), 0);
  EXPECT_EQ(verdict(1.002, 1.01), 0);
  EXPECT_EQ(verdict(0.97, 1.03), 0);
}

/// Launches of one timing, counted.
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
      EXPECT_EQ(launches, at + 1) << "a launch after the fault";
    }
  }
}

TEST(TimingGate, AGraphThatIsRefusedIsARejection) {
  for (const int made : {0, 1, 2, 3}) {
    GateFixture fixture;
    const LoadedKernel kernel = fixture.load("k", GateFixture::honest);
    fixture.device->set_graphs(made);
    const TimingResult result =
        fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
    ASSERT_TRUE(result.rejection) << made;
    EXPECT_EQ(result.rejection->reason, "the graph was refused");
  }
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
  EXPECT_THAT(result.rejection->reason, HasSubstr("its workspace does not fit"));
}

}  // namespace
}  // namespace evo
