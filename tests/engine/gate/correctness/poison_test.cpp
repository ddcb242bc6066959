#include "engine/gate/correctness/poison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace evo {
namespace {

double poisoned(Poison poison, Dtype dtype) {
  const std::vector<std::byte> pattern = poison_pattern(poison, dtype, 7);
  EXPECT_EQ(pattern.size(), size_of(dtype));
  return decode(dtype, pattern.data());
}

/// The value of type `dtype` that is nearest to `value`.
double nearest(Dtype dtype, double value) {
  std::vector<std::byte> bytes(size_of(dtype));
  encode(dtype, value, bytes.data());
  return decode(dtype, bytes.data());
}

TEST(Poison, BracketsWhateverTheDataAre) {
  for (const DtypeRow& row : dtype_rows()) {
    const Dtype dtype = row.dtype;
    for (const double value : {-1e300, -400.0, -1.0, 0.0, 1.0, 400.0, 1e300}) {
      const double data = nearest(dtype, value);
      if (std::isinf(data)) continue;
      EXPECT_LE(poisoned(Poison::kBelow, dtype), data) << to_string(dtype);
      EXPECT_GE(poisoned(Poison::kAbove, dtype), data) << to_string(dtype);
    }
    EXPECT_EQ(poisoned(Poison::kZero, dtype), 0);
    if (is_floating(dtype)) {
      EXPECT_TRUE(std::isnan(poisoned(Poison::kNan, dtype)));
      EXPECT_TRUE(std::isfinite(poisoned(Poison::kAbove, dtype)));
    }
  }
}

TEST(Poison, RandomOnesFollowTheSeed) {
  const auto one = poison_pattern(Poison::kRandom, Dtype::kF64, 1);
  EXPECT_EQ(one, poison_pattern(Poison::kRandom, Dtype::kF64, 1));
  EXPECT_NE(one, poison_pattern(Poison::kRandom, Dtype::kF64, 2));
}

TEST(Poison, AnyRunsInARowMeetAllOfThem) {
  for (std::size_t start = 0; start < 7; ++start) {
    std::set<Poison> met;
    for (std::size_t run = start; run < start + kPoisons; ++run) met.insert(poison_of_run(run));
    EXPECT_EQ(met.size(), kPoisons);
  }
}

}  // namespace
}  // namespace evo
