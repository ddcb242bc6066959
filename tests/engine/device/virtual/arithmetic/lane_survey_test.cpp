#include "engine/device/virtual/arithmetic/lane_survey.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "engine/core/random.hpp"
#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {
namespace {

using SurveyedAddresses = std::array<std::uint64_t, kWarpSize>;

SurveyedAddresses spaced(std::uint64_t first, std::uint64_t stride) {
  SurveyedAddresses address;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) address[lane] = first + lane * stride;
  return address;
}

LanePattern pattern_of(const SurveyedAddresses& address, std::uint32_t mask, std::uint32_t bytes) {
  return survey_lanes(address.data(), mask, bytes).pattern;
}

/// Compares the lowest and highest address and the bitwise OR that survey_lanes() finds with
/// results that are computed lane by lane.
void expect_plain_survey(const SurveyedAddresses& address, std::uint32_t mask) {
  LaneSurvey plain;
  plain.lowest = ~0ULL;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    plain.bits |= address[lane];
    plain.lowest = std::min(plain.lowest, address[lane]);
    plain.highest = std::max(plain.highest, address[lane]);
  }
  const LaneSurvey found = survey_lanes(address.data(), mask, 4);
  EXPECT_EQ(found.bits, plain.bits);
  EXPECT_EQ(found.lowest, plain.lowest);
  EXPECT_EQ(found.highest, plain.highest);
}

TEST(LaneSurvey, FindsTheEndsOfAnyLanes) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    SurveyedAddresses address;
    const std::uint64_t bits = random.below(64) + 1;
    for (std::uint64_t& a : address) a = random.bits() >> (64 - bits);
    expect_plain_survey(address, kAllLanes);
    expect_plain_survey(address, static_cast<std::uint32_t>(random.bits()) | 1U << (round % 32));
  }
}

TEST(LaneSurvey, FindsTheEndsOfEvenlySpacedLanes) {
  for (const std::uint64_t first : {0ULL, 4096ULL, ~0ULL - 100, ~0ULL - 31 * 4}) {
    for (const std::uint64_t stride : {0ULL, 1ULL, 4ULL, 64ULL, 1ULL << 31, 1ULL << 40, 1ULL << 59,
                                       1ULL << 63, 0ULL - 4, 0ULL - (1ULL << 40)}) {
      expect_plain_survey(spaced(first, stride), kAllLanes);
      expect_plain_survey(spaced(first, stride), 0xfff0U);
    }
  }
}

TEST(LaneSurvey, NamesPatternsOfWholeWarps) {
  EXPECT_EQ(pattern_of(spaced(256, 0), kAllLanes, 4), LanePattern::kUniform);
  EXPECT_EQ(pattern_of(spaced(256, 4), kAllLanes, 4), LanePattern::kContiguous);
  EXPECT_EQ(pattern_of(spaced(256, 8), kAllLanes, 4), LanePattern::kScattered);
  EXPECT_EQ(pattern_of(spaced(256, 0), kAllLanes >> 1, 4), LanePattern::kScattered);
  EXPECT_EQ(pattern_of(spaced(256, 4), kAllLanes >> 1, 4), LanePattern::kScattered);
  EXPECT_EQ(pattern_of(spaced(~0ULL - 63, 4), kAllLanes, 4), LanePattern::kScattered);
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    SurveyedAddresses same = spaced(256, 0);
    same[lane] += 4;
    EXPECT_EQ(pattern_of(same, kAllLanes, 4), LanePattern::kScattered) << "lane " << lane;
    SurveyedAddresses next = spaced(256, 4);
    next[lane] += 4;
    EXPECT_EQ(pattern_of(next, kAllLanes, 4), LanePattern::kScattered) << "lane " << lane;
  }
}

TEST(LaneSurvey, PointsOnlyTheLanesOfTheMask) {
  std::array<std::byte, 256> memory{};
  std::array<std::byte*, kWarpSize> pointer{};
  const SurveyedAddresses address = spaced(1000, 8);
  point_lanes(address.data(), 0x6U, 1000, memory.data(), pointer.data());
  EXPECT_EQ(pointer[0], nullptr);
  EXPECT_EQ(pointer[1], memory.data() + 8);
  EXPECT_EQ(pointer[2], memory.data() + 16);
  EXPECT_EQ(pointer[3], nullptr);
}

}  // namespace
}  // namespace evo::ptx
