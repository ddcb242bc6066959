#include "engine/device/virtual/checks/cta_history.hpp"

#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

/// The vector clock of a warp at time `own`; the warp has published its accesses up to time
/// `published`, so that other CTAs can acquire them.
VectorClock clock_of(std::size_t warp, std::uint32_t own, std::uint32_t published = 0) {
  VectorClock clock{};
  clock[warp] = own;
  clock[warp + kPublished] = published;
  return clock;
}

TEST(CtaHistory, KnowsWhatTheReleasesItSawPublish) {
  CtaHistory writer(1, 1);
  CtaHistory reader(2, 1);
  ReleaseChain chain;
  EXPECT_EQ(writer.release(0, clock_of(0, 4)), nullptr);
  chain.append(*writer.release(0, clock_of(0, 4, 3)));
  EXPECT_FALSE(reader.knows(0, clock_of(0, 1), 1, 0, 3));
  reader.acquire(0, clock_of(0, 1), chain);
  EXPECT_TRUE(reader.knows(0, clock_of(0, 1), 1, 0, 3));
  EXPECT_FALSE(reader.knows(0, clock_of(0, 1), 1, 0, 4));
  EXPECT_FALSE(reader.knows(0, clock_of(0, 1), 3, 0, 1));
}

TEST(CtaHistory, DoesNotKnowWhatCameToTheChainLater) {
  CtaHistory one(1, 1);
  CtaHistory other(2, 1);
  CtaHistory reader(3, 1);
  ReleaseChain chain;
  chain.append(*one.release(0, clock_of(0, 2, 1)));
  reader.acquire(0, clock_of(0, 1), chain);
  chain.append(*other.release(0, clock_of(0, 2, 1)));
  EXPECT_TRUE(reader.knows(0, clock_of(0, 1), 1, 0, 1));
  EXPECT_FALSE(reader.knows(0, clock_of(0, 1), 2, 0, 1));
}

TEST(CtaHistory, AnotherWarpKnowsItBehindABarrier) {
  CtaHistory writer(1, 2);
  CtaHistory reader(2, 2);
  ReleaseChain chain;
  chain.append(*writer.release(1, clock_of(1, 4, 3)));
  reader.acquire(0, clock_of(0, 5), chain);
  VectorClock other = clock_of(1, 9);
  other[0] = 4;
  EXPECT_FALSE(reader.knows(1, other, 1, 1, 3));
  other[0] = 5;
  EXPECT_TRUE(reader.knows(1, other, 1, 1, 3));
  EXPECT_FALSE(reader.knows(1, other, 1, 0, 1));
}

TEST(CtaHistory, WhatAThirdCtaSawBeforeItsReleaseIsKnown) {
  CtaHistory first(1, 1);
  CtaHistory between(2, 1);
  CtaHistory last(3, 1);
  ReleaseChain one;
  ReleaseChain two;
  two.append(*between.release(0, clock_of(0, 1, 1)));
  CtaHistory early(4, 1);
  early.acquire(0, clock_of(0, 1), two);
  one.append(*first.release(0, clock_of(0, 8, 7)));
  between.acquire(0, clock_of(0, 2), one);
  two.append(*between.release(0, clock_of(0, 3, 1)));
  last.acquire(0, clock_of(0, 1), two);
  EXPECT_TRUE(last.knows(0, clock_of(0, 1), 1, 0, 7));
  EXPECT_FALSE(early.knows(0, clock_of(0, 1), 1, 0, 7));
}

TEST(CtaHistory, APlaceThatWasSeenAsItIsIsKnown) {
  CtaHistory history(1, 2);
  const int place = 0;
  EXPECT_FALSE(history.has_seen(0, clock_of(0, 3), &place, 42));
  history.see(0, clock_of(0, 3), &place, 42);
  EXPECT_TRUE(history.has_seen(0, clock_of(0, 3), &place, 42));
  EXPECT_FALSE(history.has_seen(0, clock_of(0, 3), &place, 43));
  EXPECT_FALSE(history.has_seen(1, clock_of(1, 3), &place, 42));
}

}  // namespace
}  // namespace evo::ptx
