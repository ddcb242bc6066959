// Tests that kernels are rejected if they are right while they are checked, but do less or other
// work while they are timed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "engine/gate/timing/timing.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// Times kernels that pass the correctness gate and do less work while they are timed.
class TimedCheats : public testing::Test {
 protected:
  using Cheat = std::function<bool(const fake::Launch&)>;  ///< whether the launch computes y

  static constexpr int kX = 0;
  static constexpr int kY = 1;
  static constexpr int kScratch = 2;

  std::string outcome(const Cheat& works) {
    const LoadedKernel kernel = fixture_.load("cheat", [&](const fake::Launch& launch) {
      return works(launch) ? GateFixture::honest(launch) : std::optional<Fault>();
    });
    const CorrectnessResult checked = fixture_.check(kernel);
    EXPECT_FALSE(checked.rejection) << checked.rejection->reason;
    const TimingResult timed =
        fixture_.timing().time(kernel, fixture_.problem.shape("timed"), kSilent);
    if (!timed.rejection) return "passed";
    EXPECT_EQ(timed.rejection->gate, Gate::kCorrectness);
    return timed.rejection->reason;
  }

  GateFixture fixture_;
};

TEST_F(TimedCheats, AnHonestKernelIsNone) {
  EXPECT_EQ(outcome([](const fake::Launch&) { return true; }), "passed");
}

TEST_F(TimedCheats, ComputingOnlyOverPoison) {
  EXPECT_THAT(outcome([](const fake::Launch& launch) {
                const float* y = launch.buffer<float>(kY);  // poison repeats a pattern
                return std::memcmp(y, y + 1, sizeof *y) == 0;
              }),
              HasSubstr("timed launches, shape timed"));
}

TEST_F(TimedCheats, ComputingOnlyWhatIsNotThere) {
  // The cheat skips the work if the output already holds the right result. Before a timed launch,
  // the output holds the result of another input, so the kernel must do all of its work.
  int skipped = 0;
  int launches = 0;
  EXPECT_EQ(outcome([&](const fake::Launch& launch) {
              const bool there = launch.buffer<float>(kY)[0] == 2 * launch.buffer<float>(kX)[0] + 1;
              skipped += there ? 1 : 0;
              ++launches;
              return !there;
            }),
            "passed");
  EXPECT_LT(skipped, launches / 100);
}

TEST_F(TimedCheats, SkippingInputsMetBefore) {
  std::map<const void*, int> met;
  EXPECT_THAT(outcome([&](const fake::Launch& launch) { return met[launch.arguments[kX]]++ < 6; }),
              HasSubstr("timed launches"));
}

TEST_F(TimedCheats, SkippingPairsOfInputAndOutputMetBefore) {
  std::map<std::pair<const void*, const void*>, int> met;
  EXPECT_THAT(outcome([&](const fake::Launch& launch) {
                return met[{launch.arguments[kX], launch.arguments[kY]}]++ < 6;
              }),
              HasSubstr("timed launches"));
}

TEST_F(TimedCheats, RememberingResultsByAddress) {
  // The cheat recognises an input by its address and copies the stored result, so it is wrong for
  // new data at a known address.
  std::map<const void*, std::vector<float>> results;
  const LoadedKernel kernel = fixture_.load("cheat", [&](const fake::Launch& launch) {
    float* y = launch.buffer<float>(kY);
    const auto n = static_cast<std::size_t>(launch.scalar<int>(3));
    auto& known = results[launch.arguments[kX]];
    if (known.empty()) {
      (void)GateFixture::honest(launch);
      known.assign(y, y + n);
    }
    std::copy(known.begin(), known.end(), y);
    return std::optional<Fault>();
  });
  EXPECT_FALSE(fixture_.check(kernel).rejection);
  const TimingResult timed =
      fixture_.timing().time(kernel, fixture_.problem.shape("timed"), kSilent);
  ASSERT_TRUE(timed.rejection);
  EXPECT_THAT(timed.rejection->reason, HasSubstr("timed launches"));
}

TEST_F(TimedCheats, RememberingResultsByContent) {
  // The cheat is right for all data, but it copies the results of inputs that it has seen before,
  // so timed launches would only take the time of a copy.
  std::map<std::pair<int, float>, std::vector<float>> results;
  double last_us = 0;
  fixture_.time_us = [&](const auto&, std::int64_t) { return last_us; };
  const LoadedKernel kernel = fixture_.load("cheat", [&](const fake::Launch& launch) {
    float* y = launch.buffer<float>(kY);
    const auto n = launch.scalar<int>(3);
    auto& known = results[{n, launch.buffer<float>(kX)[0]}];
    last_us = known.empty() ? 10 : 1;
    if (known.empty()) {
      (void)GateFixture::honest(launch);
      known.assign(y, y + n);
    }
    std::copy(known.begin(), known.end(), y);
    return std::optional<Fault>();
  });
  EXPECT_FALSE(fixture_.check(kernel).rejection);
  const TimingResult timed =
      fixture_.timing().time(kernel, fixture_.problem.shape("timed"), kSilent);
  ASSERT_TRUE(timed.rejection);
  EXPECT_EQ(timed.rejection->gate, Gate::kTiming);
  EXPECT_THAT(timed.rejection->reason, HasSubstr("10.0 times as long"));
  EXPECT_THAT(timed.rejection->reason, HasSubstr("the kernel remembers results"));
}

TEST_F(TimedCheats, AFirstLaunchThatIsALittleSlowerIsNone) {
  std::map<std::pair<int, float>, int> met;
  double last_us = 0;
  fixture_.time_us = [&](const auto&, std::int64_t) { return last_us; };
  EXPECT_EQ(outcome([&](const fake::Launch& launch) {
              const bool first = met[{launch.scalar<int>(3), launch.buffer<float>(kX)[0]}]++ == 0;
              last_us = first ? 14 : 10;
              return true;
            }),
            "passed");
}

TEST_F(TimedCheats, StoppingAfterSoManyLaunches) {
  for (const int limit : {20, 100, 500, 2000}) {
    GateFixture fixture;
    int launches = 0;
    const LoadedKernel kernel = fixture.load("cheat", [&](const fake::Launch& launch) {
      return launches++ < limit ? GateFixture::honest(launch) : std::optional<Fault>();
    });
    const TimingResult timed =
        fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
    ASSERT_TRUE(timed.rejection) << limit;
    EXPECT_THAT(timed.rejection->reason, HasSubstr("timed launches"));
  }
}

TEST_F(TimedCheats, RightOnlyAtAddressesItHasSeen) {
  std::map<const void*, int> met;
  EXPECT_THAT(outcome([&](const fake::Launch& launch) {
                return met.size() < 10 || met.contains(launch.arguments[kX]) ||
                       (met.emplace(launch.arguments[kX], 1), false);
              }),
              "passed");  // met stays empty, so every launch does the work
  std::map<const void*, int> known;
  EXPECT_THAT(outcome([&](const fake::Launch& launch) {
                const bool has_room = known.size() < 10;  // five cases of two shapes
                if (has_room) known.emplace(launch.arguments[kX], 1);
                return known.contains(launch.arguments[kX]);
              }),
              HasSubstr("timed launches"));
}

TEST_F(TimedCheats, WritingOutsideOrIntoInputsOnlyWhenTimed) {
  for (const int argument : {kX, kY, kScratch}) {
    GateFixture fixture;
    int launches = 0;
    const LoadedKernel kernel = fixture.load("cheat", [&](const fake::Launch& launch) {
      if (launches++ > 300) launch.buffer<std::uint8_t>(static_cast<std::size_t>(argument))[-1] = 1;
      return GateFixture::honest(launch);
    });
    const TimingResult timed =
        fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
    ASSERT_TRUE(timed.rejection) << argument;
    EXPECT_THAT(timed.rejection->reason, HasSubstr("wrote outside buffer"));
  }
  GateFixture fixture;
  int launches = 0;
  const LoadedKernel kernel = fixture.load("cheat", [&](const fake::Launch& launch) {
    const auto fault = GateFixture::honest(launch);
    if (launches++ > 2000) launch.buffer<float>(kX)[999] = 1;
    return fault;
  });
  const TimingResult timed = fixture.timing().time(kernel, fixture.problem.shape("timed"), kSilent);
  ASSERT_TRUE(timed.rejection);
  EXPECT_THAT(timed.rejection->reason, HasSubstr("timed launches"));
}

TEST_F(TimedCheats, ChangedInputsAreNotBlamedOnTheNextKernel) {
  const Shape& shape = fixture_.problem.shape("timed");
  const LoadedKernel right = fixture_.load("right", GateFixture::honest);
  int launches = 0;
  const LoadedKernel wrong = fixture_.load("wrong", [&](const fake::Launch& launch) {
    if (launches++ > 300) launch.buffer<float>(kX)[999] = 1;
    return GateFixture::honest(launch);
  });
  EXPECT_TRUE(fixture_.timing().time(wrong, shape, kSilent).rejection);
  EXPECT_FALSE(fixture_.timing().time(right, shape, kSilent).rejection);
  launches = 0;
  const PairResult pair = fixture_.timing().compare_pair(wrong, right, shape, kSilent);
  EXPECT_TRUE(pair.failed_first);
  EXPECT_FALSE(fixture_.timing().time(right, shape, kSilent).rejection);
}

TEST_F(TimedCheats, AComparisonNamesTheOneThatIsWrong) {
  int launches = 0;
  const LoadedKernel wrong = fixture_.load("wrong", [&](const fake::Launch& launch) {
    return launches++ < 500 ? GateFixture::honest(launch) : std::optional<Fault>();
  });
  const LoadedKernel right = fixture_.load("right", GateFixture::honest);
  const Shape& shape = fixture_.problem.shape("timed");
  const PairResult first = fixture_.timing().compare_pair(wrong, right, shape, kSilent);
  ASSERT_TRUE(first.rejection);
  EXPECT_EQ(first.rejection->gate, Gate::kCorrectness);
  EXPECT_TRUE(first.failed_first);
  EXPECT_EQ(first.verdict(), 0);
  const PairResult second = fixture_.timing().compare_pair(right, wrong, shape, kSilent);
  ASSERT_TRUE(second.rejection);
  EXPECT_FALSE(second.failed_first);
  EXPECT_EQ(second.verdict(), 0);
}

TEST_F(TimedCheats, AComparisonOfLongLaunchesBringsInputsThatWereNotMet) {
  fixture_.time_us = [](const auto&, std::int64_t) { return 2e4; };
  std::set<float> met;
  bool learns = true;
  const LoadedKernel wrong = fixture_.load("wrong", [&](const fake::Launch& launch) {
    const float first = launch.buffer<float>(kX)[0];
    if (learns) met.insert(first);
    return met.contains(first) ? GateFixture::honest(launch) : std::optional<Fault>();
  });
  const LoadedKernel right = fixture_.load("right", GateFixture::honest);
  const Shape& shape = fixture_.problem.shape("timed");
  EXPECT_FALSE(fixture_.timing({}, 5).compare_pair(wrong, right, shape, kSilent).rejection);
  learns = false;
  const PairResult pair = fixture_.timing({}, 6).compare_pair(wrong, right, shape, kSilent);
  ASSERT_TRUE(pair.rejection);
  EXPECT_TRUE(pair.failed_first);
}

TEST_F(TimedCheats, LeaveNoBuffersBehind) {
  (void)outcome([](const fake::Launch&) { return true; });
  const std::size_t alive = fixture_.device->buffers_alive();
  (void)outcome([](const fake::Launch&) { return true; });
  EXPECT_EQ(fixture_.device->buffers_alive(), alive);
  EXPECT_EQ(fixture_.device->graphs_alive(), 0U);
}

TEST_F(TimedCheats, SkippingKnownContentInKnownPlaces) {
  // The kernel is right for new data and for new buffers, so only a check of the results of timed
  // samples reveals the cheat.
  std::map<std::pair<float, const void*>, int> met;
  EXPECT_THAT(outcome([&](const fake::Launch& launch) {
                return met[{launch.buffer<float>(kX)[0], launch.arguments[kY]}]++ < 3;
              }),
              HasSubstr("timed launches"));
}

TEST_F(TimedCheats, AComparisonLooksAtWhatItsOwnSamplesLeave) {
  std::map<std::pair<float, const void*>, int> met;
  const LoadedKernel wrong = fixture_.load("wrong", [&](const fake::Launch& launch) {
    const auto key = std::pair(launch.buffer<float>(kX)[0], launch.arguments[kY]);
    return met[key]++ < 3 ? GateFixture::honest(launch) : std::optional<Fault>();
  });
  const LoadedKernel right = fixture_.load("right", GateFixture::honest);
  const PairResult pair =
      fixture_.timing().compare_pair(right, wrong, fixture_.problem.shape("timed"), kSilent);
  ASSERT_TRUE(pair.rejection);
  EXPECT_EQ(pair.rejection->gate, Gate::kCorrectness);
  EXPECT_FALSE(pair.failed_first);
}

TEST_F(TimedCheats, ComputingOnlyOverWhatALaunchWouldLeave) {
  int launches = 0;
  const LoadedKernel kernel = fixture_.load("cheat", [&](const fake::Launch& launch) {
    const float y = launch.buffer<float>(kY)[0];
    const bool plausible = std::fabs(y) > 1e-20F && std::fabs(y) < 1e20F;
    return launches++ < 200 || plausible ? GateFixture::honest(launch) : std::optional<Fault>();
  });
  const TimingResult timed =
      fixture_.timing().time(kernel, fixture_.problem.shape("timed"), kSilent);
  ASSERT_TRUE(timed.rejection);
  EXPECT_THAT(timed.rejection->reason, HasSubstr("timed launches"));
}

TEST_F(TimedCheats, ChangingInputsWithTheLastLaunch) {
  int launches = 0;
  int all = 0;
  std::set<float*> inputs;
  const auto kernel = [&](const fake::Launch& launch) {
    const auto fault = GateFixture::honest(launch);
    float* x = launch.buffer<float>(kX);
    if (launches++ < 200) inputs.insert(x);
    for (float* other : inputs) {
      if (launches == all && other != x) other[5] += 1;
    }
    return fault;
  };
  const Shape& shape = fixture_.problem.shape("timed");
  EXPECT_FALSE(fixture_.timing().time(fixture_.load("cheat", kernel), shape, kSilent).rejection);
  all = launches;
  launches = 0;
  const TimingResult timed = fixture_.timing().time(fixture_.load("cheat", kernel), shape, kSilent);
  ASSERT_TRUE(timed.rejection);
  EXPECT_THAT(timed.rejection->reason, HasSubstr("changed its input 'x'"));
}

}  // namespace
}  // namespace evo
