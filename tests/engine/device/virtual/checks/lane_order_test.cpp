#include "engine/device/virtual/checks/lane_order.hpp"

#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

TEST(LaneSpans, AreTheSmallestAlignedGroupsThatHoldAll) {
  EXPECT_EQ(joined_span(5, 5), 5);
  EXPECT_EQ(joined_span(4, 5), joined_span(5, 4));
  EXPECT_NE(joined_span(4, 5), joined_span(5, 6));
  EXPECT_EQ(joined_span(joined_span(8, 9), 15), joined_span(11, 12));
  EXPECT_EQ(joined_span(15, 16), kAllLanesSpan);
  EXPECT_EQ(joined_span(0, kAllLanesSpan), kAllLanesSpan);
}

TEST(LaneOrder, AllLanesThatMeetAreOrdered) {
  LaneOrder order;
  order.met(7);
  EXPECT_FALSE(order.is_unordered(1, 2, 6));
  EXPECT_TRUE(order.is_unordered(1, 2, 7));
  EXPECT_FALSE(order.is_unordered(2, 2, 7));
  EXPECT_TRUE(order.is_unordered(2, joined_span(2, 3), 7));
}

TEST(LaneOrder, OfSomeOnlyThoseThatMeetAre) {
  LaneOrder order;
  order.met(1);
  order.met(0x00ffU, 2);
  EXPECT_FALSE(order.is_unordered(0, 7, 1));
  EXPECT_TRUE(order.is_unordered(0, 8, 1));
  EXPECT_TRUE(order.is_unordered(0, 7, 2));
  // Lane 7 has already synchronised with lane 0. Now lane 7 synchronises with lane 8, so accesses
  // of lane 0 before the first synchronisation are ordered before lane 8.
  order.met(0x0180U, 3);
  EXPECT_FALSE(order.is_unordered(8, 0, 1));
  EXPECT_TRUE(order.is_unordered(8, 0, 2));
  EXPECT_TRUE(order.is_unordered(9, 0, 1));
  order.met(4);
  EXPECT_FALSE(order.is_unordered(9, 0, 3));
}

TEST(LaneOrder, OfSeveralLanesOneMustBeCertain) {
  LaneOrder order;
  order.met(1);
  order.met(0x000fU, 2);
  EXPECT_FALSE(order.is_unordered(0, joined_span(1, 2), 1));
  EXPECT_TRUE(order.is_unordered(8, joined_span(1, 2), 1));
  // At least one lane of each half of joined_span(1, 5), 0 to 3 and 4 to 7, made the access, but
  // lane 0 has synchronised with none of the lanes 4 to 7.
  EXPECT_TRUE(order.is_unordered(0, joined_span(1, 5), 1));
  order.met(0x0021U, 3);
  EXPECT_FALSE(order.is_unordered(0, joined_span(1, 5), 1));
}

TEST(LaneSpans, AreMasks) {
  EXPECT_EQ(lanes_of_span(5), 1U << 5);
  EXPECT_EQ(lanes_of_span(joined_span(4, 5)), 0x30U);
  EXPECT_EQ(lanes_of_span(joined_span(16, 31)), 0xffff0000U);
  EXPECT_EQ(lanes_of_span(kAllLanesSpan), 0xffffffffU);
}

TEST(LaneOrder, AnAcquisitionOrdersOneWay) {
  LaneOrder order;
  order.met(1);
  order.acquired(1U << 3, 5, 1U << 8, 7);
  EXPECT_FALSE(order.is_unordered(3, 9, 4));
  EXPECT_TRUE(order.is_unordered(3, 9, 5));
  EXPECT_FALSE(order.is_unordered(3, 8, 6));
  EXPECT_TRUE(order.is_unordered(3, 8, 7));
  EXPECT_TRUE(order.is_unordered(4, 9, 4)) << "lane 4 acquired nothing";
  EXPECT_TRUE(order.is_unordered(9, 3, 4)) << "lane 9 acquired nothing";
  order.acquired_by_all(6, 0, 0);
  EXPECT_EQ(order.whole(), 6U);
  EXPECT_FALSE(order.is_unordered(4, 9, 5));
}

TEST(LaneOrder, KnowsUpToWhichTimeSomeLanesKnowAllOthers) {
  LaneOrder order;
  order.met(4);
  EXPECT_EQ(order.known_to(1U << 2), 4U);
  EXPECT_EQ(order.better_known_to(1U << 2), 1U << 2);
  order.met(0xffU, 9);
  EXPECT_EQ(order.known_to(1U << 2), 4U) << "lanes 8 to 31 did not meet lane 2";
  EXPECT_EQ(order.better_known_to(1U << 2), 0xffU);
  order.met(0xffffff04U, 12);
  EXPECT_EQ(order.known_to(1U << 2), 9U);
  EXPECT_EQ(order.better_known_to(1U << 2), 0xffffff04U);
}

}  // namespace
}  // namespace evo::ptx
