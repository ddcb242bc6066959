#include "engine/device/virtual/checks/plain_shadow.hpp"

#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

TEST(PlainShadow, AnotherCtaThatWroteIsFound) {
  PlainShadow shadow(8);
  EXPECT_EQ(shadow.write(3, 1), 0U);
  EXPECT_EQ(shadow.write(3, 1), 0U);
  EXPECT_EQ(shadow.write(3, 2), 1U);
  EXPECT_EQ(shadow.write(4, 2), 0U);
  EXPECT_EQ(shadow.read(4, 2), 0U);
  EXPECT_EQ(shadow.read(4, 1), 2U);
  EXPECT_EQ(shadow.writer(3), 2U);
  EXPECT_EQ(shadow.writer(5), 0U);
}

TEST(PlainShadow, AnotherCtaThatReadIsFoundBehindTheLastReader) {
  PlainShadow shadow(8);
  EXPECT_EQ(shadow.read(0, 1), 0U);
  EXPECT_EQ(shadow.read(0, 2), 0U);
  EXPECT_EQ(shadow.write(0, 2), 1U);
  EXPECT_EQ(shadow.read(1, 1), 0U);
  EXPECT_EQ(shadow.write(1, 1), 0U);
}

TEST(PlainShadow, APieceIsNotedWhereNobodyElseWas) {
  PlainShadow shadow(8);
  EXPECT_TRUE(shadow.write_all(0, 4, 1));
  EXPECT_TRUE(shadow.write_all(2, 2, 1));
  EXPECT_FALSE(shadow.write_all(3, 4, 2));
  EXPECT_EQ(shadow.writer(3), 1U);
  EXPECT_EQ(shadow.writer(4), 0U);
  EXPECT_TRUE(shadow.write_all(4, 4, 2));
  EXPECT_EQ(shadow.writer(7), 2U);
}

TEST(PlainShadow, APieceOfABufferThatIsReadIsLookedAtPlaceByPlace) {
  PlainShadow shadow(8);
  EXPECT_EQ(shadow.read(2, 2), 0U);
  EXPECT_FALSE(shadow.write_all(0, 4, 1));
  EXPECT_EQ(shadow.write(2, 1), 2U);
}

// Even a shadow so large that the host uses huge pages for it begins without readers and writers.
TEST(PlainShadow, AllPlacesBeginAsNobodys) {
  constexpr std::size_t kPlaces = std::size_t{1} << 21;
  PlainShadow shadow(kPlaces);
  for (const std::size_t place : {std::size_t{0}, kPlaces / 2, kPlaces - 1}) {
    EXPECT_EQ(shadow.writer(place), 0U);
    EXPECT_EQ(shadow.read(place, 7), 0U);
  }
}

}  // namespace
}  // namespace evo::ptx
