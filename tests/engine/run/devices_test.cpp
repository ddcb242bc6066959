// Tests runs over several devices: such runs give the same result as with one device, are faster,
// and survive the loss of a device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/run/device_spread.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

fake::DeviceBehaviour predicts() {
  fake::DeviceBehaviour behaviour = quickly_checked_kernels();
  behaviour.kind = TimeKind::kPredicted;
  return behaviour;
}

TEST(Devices, ARunOverSeveralEndsAsOverOne) {
  std::vector<std::string> one;
  for (const std::size_t devices : {1U, 2U, 4U, 7U}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      fake::MemoryStore store;
      World world(store, predicts(),
                  {.compiler_seed = seed, .space = "distinct", .devices = devices});
      EXPECT_EQ(run_all(world, store, options_for(8, 16)), TunerEnd::kFinished);
      if (one.empty()) one = story(store);
      EXPECT_EQ(story(store), one) << devices << " devices";
      const auto works = [](const auto* device) { return !device->requests().empty(); };
      EXPECT_GE(std::ranges::count_if(world.devices, works), devices > 1 ? 2 : 1);
    }
  }
}

/// The duration in ms of recording 300 candidates on `devices` devices.
double duration_ms(std::size_t devices) {
  fake::MemoryStore store;
  fake::DeviceBehaviour behaviour = quickly_checked_kernels();
  behaviour.check_ms = 12;
  behaviour.time_ms = 18;
  World world(store, behaviour,
              {.space = "distinct", .compilers = 64 * devices, .devices = devices});
  TunerOptions options = options_for(std::numeric_limits<int>::max(), 32 * devices);
  options.aim = Aim::kRecord;
  options.strategy = "random";
  options.candidates = 300;
  options.offspring = 300;
  const SteadyTime start = world.loop->now();
  (void)run_all(world, store, options);
  return milliseconds_between(start, world.loop->now());
}

TEST(Devices, SeveralAreAlmostAsManyTimesFaster) {
  const double one = duration_ms(1);
  for (const std::size_t devices : {2U, 4U, 8U}) {
    EXPECT_GE(one / duration_ms(devices), 0.9 * static_cast<double>(devices)) << devices;
  }
}

TEST(Devices, ASpreadSaysHowMuchTheyDiffer) {
  fake::MemoryStore store;
  World world(store, {}, {.space = "distinct", .devices = 3});
  SilentObserver observer;
  Tuner tuner(*world.bench, store, {kRun}, options_for(2, 8), observer);
  static const std::atomic<bool> never{false};
  ASSERT_EQ(tuner.run({}, never), TunerEnd::kFinished);
  ASSERT_NE(tuner.control(), nullptr);
  auto times = world.bench->wait(time_on_each_device(*world.bench, tuner.control()->kernel));
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].p50_us, times[2].p50_us);
  times = {{"cuda:0", 5.0}, {"cuda:1", 5.05}};
  EXPECT_EQ(spread_text(times), "cuda:0 5.00 µs, cuda:1 5.05 µs: they differ by 1.0 %");
  times.pop_back();
  EXPECT_EQ(spread_text(times), "");
}

TEST(Devices, ADeviceThatIsLostCostsNoCandidate) {
  fake::MemoryStore whole;
  World world(whole, predicts(), {.space = "distinct"});
  ASSERT_EQ(run_all(world, whole, options_for(6, 8)), TunerEnd::kFinished);
  for (const int lost_after : {1, 7, 20}) {
    auto requests = std::make_shared<int>(0);
    auto lost = std::make_shared<bool>(false);
    fake::DeviceBehaviour behaviour = predicts();
    behaviour.before = [=] {
      if (*lost || ++*requests < lost_after) return;
      *lost = true;
      throw MissingError("planted: the device is gone");
    };
    fake::MemoryStore store;
    World two(store, behaviour, {.space = "distinct", .devices = 2});
    EXPECT_EQ(run_all(two, store, options_for(6, 8)), TunerEnd::kFinished);
    EXPECT_TRUE(*lost);
    EXPECT_EQ(story(store), story(whole)) << "lost after " << lost_after << " requests";
    EXPECT_EQ(two.bench->devices().usable(), 1U);
  }
}

TEST(Devices, TheLastOneThatIsLostEndsTheRun) {
  fake::DeviceBehaviour behaviour = predicts();
  auto requests = std::make_shared<int>(0);
  behaviour.before = [=] {
    if (++*requests > 60) throw MissingError("planted: the device is gone");
  };
  fake::MemoryStore store;
  World world(store, behaviour, {.space = "distinct", .devices = 3});
  EXPECT_THROW((void)run_all(world, store, options_for(6, 8)), MissingError);
  EXPECT_FALSE(store.evaluations().empty()) << "outcomes before the loss are stored";
}

}  // namespace
}  // namespace evo
