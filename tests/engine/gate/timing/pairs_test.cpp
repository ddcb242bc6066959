// Tests A/B comparisons of two kernels with made-up times.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/core/random.hpp"
#include "engine/gate/timing/timing.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo {
namespace {

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
      const int fewest = launch_us < 1000 ? 6 : 2;
      if (ratio > 1 || launch_us > 1000) {
        EXPECT_EQ(pair.pairs, fewest);
      } else {
        EXPECT_GE(pair.pairs, 60);
      }
    }
  }
}

TEST(Pairs, LongLaunchesThatScatterGetMorePairsUpToABound) {
  for (const auto& [launch_us, pairs] : {std::pair(5e3, 32), std::pair(2e4, 4)}) {
    GateFixture fixture;
    const LoadedKernel first = fixture.load("first", GateFixture::honest);
    const LoadedKernel second = fixture.load("second", GateFixture::honest);
    std::size_t launches = 0;
    fixture.time_us = [&, us = launch_us](const fake::Program& program, std::int64_t) {
      // Some ratios of the two times are below 1 and some above 1; the median is 1.01.
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
  // In the three cases, the kernels differ by 2 % with a scatter of 1.2 % or 1.8 %, or they do not
  // differ and the scatter is 1.2 %.
  for (const auto& [ratio, scatter, pairs, verdict] :
       {std::tuple(1.02, 0.012, 6, 1), std::tuple(1.02, 0.018, 8, 1),
        std::tuple(1.0, 0.012, 6, 0)}) {
    GateFixture fixture;
    const LoadedKernel first = fixture.load("first", GateFixture::honest);
    const LoadedKernel second = fixture.load("second", GateFixture::honest);
    std::size_t launches = 0;
    fixture.time_us = [&](const fake::Program& program, std::int64_t) {
      if (program.entry != "first" && program.entry != "second") return 5e3;  // the reference
      const double noise = launches++ % 4 < 2 ? -scatter / 2 : scatter / 2;
      return program.entry == "first" ? 5e3 * (ratio + noise) : 5e3;
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

/// Made-up noise of a device's times: independent scatter, an autocorrelated drift, single slow
/// samples, and a steady slowdown.
struct Noise {
  double white = 0;   ///< relative standard deviation of the scatter
  double drift = 0;   ///< relative standard deviation of the first-order autoregressive part
  double memory = 0;  ///< coefficient of the autoregressive part
  double bumps = 0;   ///< share of samples that take a fifth longer
  double slope = 0;   ///< relative increase from each sample to the next
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
  /// Counts the verdicts (see PairResult::verdict()) of A/B comparisons between a kernel of 5 µs
  /// and a kernel of `second_us`.
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

}  // namespace
}  // namespace evo
