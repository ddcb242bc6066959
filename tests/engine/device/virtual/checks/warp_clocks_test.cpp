#include "engine/device/virtual/checks/warp_clocks.hpp"

#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

constexpr std::uint32_t kAlive = 0xffffffffU;
constexpr std::uint32_t kLane0 = 1U << 0;
constexpr std::uint32_t kLane5 = 1U << 5;

WarpClocks clocks_of_two_warps() {
  WarpClocks clocks;
  clocks.reset(2);
  return clocks;
}

TEST(VectorClock, IncludesSomeLanesOfAWarpBeyondTheOthers) {
  VectorClock clock;
  clock[1] = 4;
  clock.some_lanes[1] = {kLane5, 8};
  clock.has_some_lanes = true;
  EXPECT_TRUE(clock.includes(1, kAlive, 4));
  EXPECT_FALSE(clock.includes(1, kAlive, 5));
  EXPECT_TRUE(clock.includes(1, kLane5, 8));
  EXPECT_FALSE(clock.includes(1, kLane0, 8));
  VectorClock other;
  other.some_lanes[1] = {kLane0, 6};
  other.has_some_lanes = true;
  clock.join(other);
  EXPECT_TRUE(clock.includes(1, kLane0 | kLane5, 8))
      << "the lanes of both clocks are included up to the later time";
  other[1] = 9;
  clock.join(other);
  EXPECT_EQ(clock.some_lanes[1].mask, 0U) << "all lanes are known up to a later time";
}

TEST(WarpClocks, AReleaseByAllLanesIncludesAllTheirAccesses) {
  WarpClocks clocks = clocks_of_two_warps();
  const std::uint32_t written = clocks.now(0);
  const VectorClock released = clocks.released(0, kAlive, kAlive);
  clocks.tick(0);
  EXPECT_TRUE(released.includes(0, kAlive, written));
  EXPECT_FALSE(released.includes(0, kAlive, clocks.now(0)));
}

TEST(WarpClocks, AReleaseByOneLaneIncludesOthersOnlyUpToTheirMeeting) {
  WarpClocks clocks = clocks_of_two_warps();
  const std::uint32_t before = clocks.now(0);
  clocks.meet(0);
  const std::uint32_t after = clocks.now(0);
  const VectorClock released = clocks.released(0, kLane0, kAlive);
  EXPECT_TRUE(released.includes(0, kLane5, before));
  EXPECT_FALSE(released.includes(0, kLane5, after));
  EXPECT_TRUE(released.includes(0, kLane0, after));
}

TEST(WarpClocks, ALaneThatAcquiresTellsOthersWhenTheyMeet) {
  WarpClocks clocks = clocks_of_two_warps();
  const std::uint32_t written = clocks.now(0);
  const VectorClock released = clocks.released(0, kAlive, kAlive);
  clocks.tick(0);
  clocks.acquire(1, kLane0, kAlive, released);
  EXPECT_TRUE(clocks.of_lane(1, 0).includes(0, kAlive, written));
  EXPECT_FALSE(clocks.of_lane(1, 5).includes(0, kAlive, written));
  EXPECT_FALSE(clocks.common(1).includes(0, kAlive, written));
  clocks.meet(1, kLane0 | kLane5);
  EXPECT_TRUE(clocks.of_lane(1, 5).includes(0, kAlive, written));
  EXPECT_FALSE(clocks.of_lane(1, 6).includes(0, kAlive, written));
  clocks.meet(1);
  EXPECT_TRUE(clocks.common(1).includes(0, kAlive, written));
}

TEST(WarpClocks, LanesOfAWarpAreOrderedThroughAnotherWarp) {
  WarpClocks clocks = clocks_of_two_warps();
  const std::uint32_t written = clocks.now(0);
  const VectorClock first = clocks.released(0, kLane0, kAlive);
  clocks.tick(0);
  clocks.acquire(1, kLane5, kAlive, first);
  const VectorClock second = clocks.released(1, kLane5, kAlive);
  EXPECT_TRUE(clocks.order(0).is_unordered(5, 0, written));
  clocks.acquire(0, kLane5, kAlive, second);
  EXPECT_FALSE(clocks.order(0).is_unordered(5, 0, written));
  EXPECT_TRUE(clocks.order(0).is_unordered(6, 0, written));
}

}  // namespace
}  // namespace evo::ptx
