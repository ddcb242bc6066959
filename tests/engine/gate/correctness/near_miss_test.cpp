// Tests whether a tolerance accepts outputs whose elements or rows are shifted by one position or
// exchanged.

#include "engine/gate/correctness/near_miss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace evo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Expectation expected(std::size_t count, const std::function<double(std::size_t)>& value) {
  std::vector<std::byte> bytes(count * sizeof(double));
  for (std::size_t i = 0; i < count; ++i) encode(Dtype::kF64, value(i), bytes.data() + 8 * i);
  return {Dtype::kF64, std::move(bytes)};
}

Tolerance within(double error) { return {error, error, 0, 0.9}; }

double as_number(std::size_t i) { return static_cast<double>(i); }

TEST(NearMiss, ASlopeIsHiddenByWhatItRisesInOnePlace) {
  const Expectation slope = expected(1000, as_number);
  EXPECT_THAT(accepted_near_misses(slope, within(1), 0),
              UnorderedElementsAre(NearMiss::kElementBefore, NearMiss::kElementBehind,
                                   NearMiss::kElementsExchanged));
  EXPECT_THAT(accepted_near_misses(slope, within(0.9), 0), IsEmpty());
}

TEST(NearMiss, RowsThatAreNearlyAlike) {
  // Elements of a row differ much; adjacent rows differ little.
  const Expectation rows = expected(
      1000, [](std::size_t i) { return as_number(i % 10) * 5 + 0.001 * as_number(i / 10); });
  EXPECT_THAT(accepted_near_misses(rows, within(0.01), 10), ElementsAre(NearMiss::kRowsExchanged));
  EXPECT_THAT(accepted_near_misses(rows, within(0.0001), 10), IsEmpty());
}

TEST(NearMiss, ElementsStayInTheirRow) {
  // Adjacent rows differ much; adjacent elements of a row differ little.
  const Expectation rows = expected(
      1000, [](std::size_t i) { return as_number(i / 10) * 100 + 0.001 * as_number(i % 10); });
  EXPECT_THAT(accepted_near_misses(rows, within(0.01), 10),
              UnorderedElementsAre(NearMiss::kElementBefore, NearMiss::kElementBehind,
                                   NearMiss::kElementsExchanged));
}

TEST(NearMiss, AllBoundsMustTakeIt) {
  const Expectation slope = expected(1000, as_number);
  Tolerance tolerance = within(1);
  tolerance.relative_l2 = 1e-6;
  EXPECT_THAT(accepted_near_misses(slope, tolerance, 0), IsEmpty());
  tolerance = within(1);
  tolerance.bad_abs_error = 0.5;
  EXPECT_THAT(accepted_near_misses(slope, tolerance, 0), IsEmpty());
  tolerance.bad_share = 1;
  EXPECT_EQ(accepted_near_misses(slope, tolerance, 0).size(), 3U);
}

TEST(NearMiss, WhatIsTheSameIsNoEvidence) {
  EXPECT_THAT(accepted_near_misses(expected(1000, [](std::size_t) { return 5.0; }), within(1), 0),
              IsEmpty());
  const auto few = [](std::size_t i) { return i % 100 == 7 ? 5.5 : 5.0; };
  EXPECT_THAT(accepted_near_misses(expected(1000, few), within(1), 0), IsEmpty());
  const auto nan = [](std::size_t) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_THAT(accepted_near_misses(expected(1000, nan), within(1), 0), IsEmpty());
  const auto zeros = [](std::size_t i) { return i % 2 == 0 ? 0.0 : -0.0; };
  EXPECT_THAT(accepted_near_misses(expected(1000, zeros), within(1), 0), IsEmpty());
}

TEST(NearMiss, AFewElementsMayLieNear) {
  EXPECT_THAT(accepted_near_misses(expected(20, as_number), within(1), 0), IsEmpty());
  EXPECT_THAT(accepted_near_misses(expected(0, as_number), within(1), 0), IsEmpty());
}

TEST(NearMiss, SpecialValuesAreWrongInAnotherPlace) {
  const auto one_nan = [](std::size_t i) {
    return i == 500 ? std::numeric_limits<double>::quiet_NaN() : 5 + 0.001 * as_number(i);
  };
  EXPECT_THAT(accepted_near_misses(expected(1000, one_nan), within(1), 0), IsEmpty());
}

}  // namespace
}  // namespace evo
