#include "engine/core/random.hpp"

#include <gtest/gtest.h>

#include <array>

namespace evo {
namespace {

TEST(Random, SameSeedSameNumbersOnEveryMachine) {
  // The 10000th output of mt19937_64 for its default seed is fixed by the C++ standard.
  Random random(5489);
  for (int i = 0; i < 9999; ++i) random.bits();
  EXPECT_EQ(random.bits(), 9981545732273789042ULL);
}

TEST(Random, BelowIsUniform) {
  Random random(1);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 500);
}

TEST(Random, NormalHasUnitVariance) {
  Random random(2);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
}

TEST(MixSeed, SeparatesNeighbours) {
  EXPECT_NE(mix_seed(1, 2), mix_seed(2, 1));
  EXPECT_NE(mix_seed(1, 2), mix_seed(1, 3));
}

}  // namespace
}  // namespace evo
