#include "engine/device/virtual/checks/cluster_shadow.hpp"

#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

RemoteAccess access_at(std::uint32_t address, std::uint32_t time, std::uint8_t rank, bool writes) {
  return {.time = time, .address = address, .rank = rank, .is_write = writes};
}

TEST(ClusterShadow, ReturnsWritesAndReadsOfTheSameBytes) {
  ClusterShadow shadow(256, 4, 4, 2);
  EXPECT_TRUE(shadow.is_empty());
  shadow.add(access_at(16, 3, 1, true), 8);
  shadow.add(access_at(20, 5, 2, false), 4);
  EXPECT_FALSE(shadow.is_empty());
  EXPECT_EQ(shadow.accesses(12, 4, true).size(), 0U);
  ASSERT_EQ(shadow.accesses(20, 4, false).size(), 1U);
  EXPECT_EQ(shadow.accesses(20, 4, false)[0].rank, 1U);
  EXPECT_EQ(shadow.accesses(20, 4, false)[0].address, 20U);
  EXPECT_EQ(shadow.accesses(16, 16, true).size(), 3U);  // two granules of the write, one read
  EXPECT_EQ(shadow.latest().size(), 2U);
}

TEST(ClusterShadow, StrongAccessDoesNotHideAWeakOneOfTheSameTime) {
  ClusterShadow shadow(64, 4, 2, 1);
  RemoteAccess strong = access_at(0, 3, 1, true);
  strong.is_strong = true;
  shadow.add(access_at(0, 3, 1, true), 4);
  shadow.add(strong, 4);
  EXPECT_FALSE(shadow.accesses(0, 4, false)[0].is_strong);
  strong.time = 4;
  shadow.add(strong, 4);
  EXPECT_TRUE(shadow.accesses(0, 4, false)[0].is_strong);
}

}  // namespace
}  // namespace evo::ptx
