// Tests the order in which the pool assigns devices to waiting coroutines, and devices that are
// lost, leave or join.

#include "engine/evaluate/device_pool.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_services.hpp"

namespace evo {
namespace {

/// A pool of fake devices, and coroutines that use the devices.
class DevicePoolTest : public testing::Test {
 protected:
  DevicePool& open(std::size_t count) {
    std::vector<std::unique_ptr<DeviceService>> devices;
    for (std::size_t i = 0; i < count; ++i) {
      devices.push_back(std::make_unique<fake::FakeDeviceService>(loop_, fake::DeviceBehaviour{}));
    }
    return pool_.emplace(loop_, std::move(devices));
  }
  ~DevicePoolTest() override { loop_.end_all(); }

  /// A coroutine that waits for the device with the index `which` (nullopt: for any device),
  /// appends `name` to order_, and holds the device for the given time.
  Task<> use(char name, Turn turn, double milliseconds, std::optional<std::size_t> which = {}) {
    Task<DeviceLease> wanted = which ? pool_->one(*which, turn) : pool_->any(turn);
    const DeviceLease lease = co_await std::move(wanted);
    order_ += name;
    (void)lease.at(Phase::kTiming);
    co_await loop_.sleep(milliseconds);
  }

  fake::FakeLoop loop_;
  std::optional<DevicePool> pool_;
  std::string order_;
};

TEST_F(DevicePoolTest, TheLowestTurnGoesFirstWhateverCameFirst) {
  open(1);
  for (const auto& [name, turn] : {std::pair('a', 5), std::pair('d', 4), std::pair('c', 3)}) {
    loop_.spawn(use(name, static_cast<Turn>(turn), 10));
  }
  loop_.spawn(use('h', kFirstTurn, 10, 0U));
  loop_.run(loop_.sleep(100));
  EXPECT_EQ(order_, "ahcd") << "'a' already has the device";
}

TEST_F(DevicePoolTest, AllDevicesWorkAtTheSameTime) {
  open(4);
  for (int i = 0; i < 8; ++i) loop_.spawn(use('x', 1, 100));
  const SteadyTime start = loop_.now();
  loop_.run(loop_.sleep(199));
  EXPECT_EQ(order_.size(), 8U);
  loop_.run(loop_.sleep(10));
  EXPECT_NEAR(pool_->times().spent_ms(Phase::kTiming), 800, 1);
  EXPECT_NEAR(pool_->times().spent_ms(Phase::kIdle),
              4 * milliseconds_between(start, loop_.now()) - 800, 1);
}

TEST_F(DevicePoolTest, ALostDeviceIsNotUsedAgainAndTheHomeMovesOn) {
  DevicePool& pool = open(2);
  const auto lose = [&](std::size_t device) -> Task<> {
    const DeviceLease lease = co_await pool.one(device, 1);
    try {
      throw MissingError("planted: the device is gone");
    } catch (const MissingError&) {
      lease.give_up();
    }
  };
  loop_.run(lose(0));
  EXPECT_EQ(pool.home(), 1U);
  EXPECT_EQ(pool.usable(), 1U);
  loop_.spawn(use('x', 1, 10));
  loop_.spawn(use('y', 1, 10));
  loop_.run(loop_.sleep(100));
  EXPECT_EQ(order_, "xy");
  EXPECT_THROW(loop_.run(lose(1)), MissingError) << "the last device is lost";
}

TEST_F(DevicePoolTest, WhoWaitsForTheHomeDeviceGetsTheNextOneWhenItIsLost) {
  DevicePool& pool = open(2);
  const auto lose_later = [&]() -> Task<> {
    const DeviceLease lease = co_await pool.one(0, 1);
    co_await loop_.sleep(10);
    try {
      throw MissingError("planted: the device is gone");
    } catch (const MissingError&) {
      lease.give_up();
    }
  };
  const auto compare = [&]() -> Task<std::size_t> {
    const DeviceLease lease = co_await pool.at_home(kFirstTurn);
    co_return lease.device();
  };
  loop_.spawn(lose_later());
  loop_.spawn(use('b', 1, 5, 1));
  EXPECT_EQ(loop_.run(compare()), 1U);
  EXPECT_THROW((void)loop_.run(pool.one(0, 1)), MissingError)
      << "device 0 is lost, and another device cannot replace it";
}

TEST_F(DevicePoolTest, WhoWaitsForADeviceThatIsLostIsTold) {
  DevicePool& pool = open(2);
  bool is_told = false;
  const auto wait = [&]() -> Task<> {
    try {
      const DeviceLease lease = co_await pool.one(1, kFirstTurn);
    } catch (const MissingError&) {
      is_told = true;
    }
  };
  const auto lose_later = [&]() -> Task<> {
    const DeviceLease lease = co_await pool.one(1, 1);
    co_await loop_.sleep(10);
    try {
      throw MissingError("planted: the device is gone");
    } catch (const MissingError&) {
      lease.give_up();
    }
  };
  loop_.spawn(lose_later());
  loop_.spawn(wait());
  loop_.run(loop_.sleep(100));
  EXPECT_TRUE(is_told);
}

TEST_F(DevicePoolTest, OneThatComesTakesTheWorkOfTheLastThatLeft) {
  DevicePool& pool = open(1);
  pool.expect_more();
  const auto leave_and_come = [&]() -> Task<> {
    pool.leave(0);
    co_await loop_.sleep(10);
    EXPECT_EQ(pool.usable(), 0U);
    EXPECT_EQ(pool.add(std::make_unique<fake::FakeDeviceService>(loop_, fake::DeviceBehaviour())),
              1U);
  };
  const auto work = [&]() -> Task<std::size_t> {
    const DeviceLease lease = co_await pool.any(kFirstTurn);
    co_return lease.device();
  };
  loop_.spawn(leave_and_come());
  loop_.run(loop_.sleep(1));
  EXPECT_EQ(loop_.run(work()), 1U);
  EXPECT_EQ(pool.home(), 1U);
  EXPECT_EQ(pool.times().phases().size(), 1U) << "only usable devices count";
}

TEST_F(DevicePoolTest, TheLossOfTheLastIsNoErrorWhereOthersMayCome) {
  DevicePool& pool = open(1);
  pool.expect_more();
  const auto lose = [&]() -> Task<> {
    const DeviceLease lease = co_await pool.any(kFirstTurn);
    try {
      throw MissingError("planted: the device is gone");
    } catch (const MissingError&) {
      EXPECT_NO_THROW(lease.give_up());
    }
  };
  loop_.run(lose());
  EXPECT_EQ(pool.usable(), 0U);
}

TEST(DeviceInfo, APartOfAGpuIsASlice) {
  DeviceInfo info;
  info.name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
  EXPECT_TRUE(is_slice(info));
  info.name = "NVIDIA H200";
  EXPECT_FALSE(is_slice(info));
}

}  // namespace
}  // namespace evo
