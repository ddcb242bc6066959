#include "engine/device/virtual/execute/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace evo::ptx {
namespace {

constexpr int kSms = 58;
constexpr int kWarpsPerSm = 48;

Placement of_launch(std::uint64_t number) { return {7, number, kSms, kWarpsPerSm}; }

TEST(Placement, CtasThatAreNoMoreThanSmsLieOnDifferentOnes) {
  for (std::uint64_t number = 0; number < 50; ++number) {
    std::set<std::uint32_t> used;
    for (std::uint64_t cta = 0; cta < kSms; ++cta) used.insert(of_launch(number).sm_of(cta));
    EXPECT_EQ(used.size(), std::size_t{kSms});
    EXPECT_LT(*used.rbegin(), std::uint32_t{kSms});
  }
}

TEST(Placement, AnotherLaunchPutsCtasElsewhere) {
  int same_sm = 0;
  int same_warp = 0;
  for (std::uint64_t cta = 0; cta < 1000; ++cta) {
    same_sm += of_launch(1).sm_of(cta) == of_launch(2).sm_of(cta) ? 1 : 0;
    same_warp += of_launch(1).first_warp_of(cta, 4) == of_launch(2).first_warp_of(cta, 4) ? 1 : 0;
  }
  EXPECT_LT(same_sm, 200);
  EXPECT_LT(same_warp, 200);
  EXPECT_NE(of_launch(1).grid(), of_launch(2).grid());
}

TEST(Placement, WarpsOfACtaFitTheSmAndBeginAtTheFirstScheduler) {
  for (std::uint64_t cta = 0; cta < 200; ++cta) {
    for (const std::uint32_t warps : {1U, 4U, 7U, 32U, 48U, 64U}) {
      const std::uint32_t first = of_launch(cta).first_warp_of(cta, warps);
      EXPECT_EQ(first % 4, 0U);
      if (warps <= kWarpsPerSm) {
        EXPECT_LE(first + warps, std::uint32_t{kWarpsPerSm});
      } else {
        EXPECT_EQ(first, 0U);
      }
    }
  }
}

TEST(Placement, EveryCtaStartsOnceAndInItsWindow) {
  for (const std::uint64_t ctas : {1U, 2U, 64U, 65U, 1000U}) {
    for (const std::uint64_t window : {1U, 3U, 64U}) {
      std::set<std::uint64_t> started;
      for (std::uint64_t position = 0; position < ctas; ++position) {
        const std::uint64_t cta = of_launch(3).cta_at(position, ctas, window);
        EXPECT_EQ(cta / window, position / window);
        started.insert(cta);
      }
      EXPECT_EQ(started.size(), ctas);
      EXPECT_EQ(*started.rbegin(), ctas - 1);
    }
  }
}

TEST(DeviceClocks, GoOnBetweenLaunchesByMoreAndByLess) {
  constexpr std::uint64_t kMicrosecond = 1000;
  DeviceClocks clocks(1);
  std::uint64_t shortest = ~0ULL;
  std::uint64_t longest = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const DeviceClocks before = clocks;
    clocks.pass(number, 500);
    EXPECT_GT(clocks.clock(), before.clock() + 500);
    const std::uint64_t passed = clocks.nanoseconds() - before.nanoseconds();
    shortest = std::min(shortest, passed);
    longest = std::max(longest, passed);
  }
  EXPECT_GE(shortest, kMicrosecond);
  EXPECT_LT(shortest, 10 * kMicrosecond);
  EXPECT_GT(longest, 100'000 * kMicrosecond);
}

}  // namespace
}  // namespace evo::ptx
