#include "engine/problem/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>

#include "engine/core/random.hpp"
#include "engine/core/statistics.hpp"
#include "engine/problem/normal_quantile.hpp"

namespace evo {
namespace {

constexpr SpecialValues kNoSpecial = {false, false, false, false, false};
constexpr Generator kNormal = {Distribution::kNormal, 0, 1, {}, kNoSpecial};

Generator uniform(double low, double high) {
  return {Distribution::kUniform, low, high, {}, kNoSpecial};
}

std::vector<double> values(const Generator& generator, Dtype dtype, std::size_t count,
                           std::uint64_t seed) {
  return decode_all(dtype, generate(generator, dtype, count, {seed}));
}

Generator integers(std::int64_t low, std::int64_t high) {
  return {Distribution::kIntegers,
          0,
          0,
          {low < 0, static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)},
          kNoSpecial};
}

TEST(Generator, TheSameSeedGivesTheSameBytesAndAnotherDoesNot) {
  for (const std::size_t count : {1000, 100000}) {  // without and with a table of quantiles
    EXPECT_EQ(generate(kNormal, Dtype::kE4m3, count, {5}),
              generate(kNormal, Dtype::kE4m3, count, {5}));
    EXPECT_NE(generate(kNormal, Dtype::kE4m3, count, {5}),
              generate(kNormal, Dtype::kE4m3, count, {6}));
  }
}

TEST(Generator, ALongArrayBeginsLikeAShortOne) {
  // If there are more than 2^16 elements of one or two bytes, the generator takes them from a table
  // of quantiles. The table must give the same values as the computation for short arrays.
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kF16, Dtype::kF32}) {
    const auto small = generate(kNormal, dtype, 4000, {7});
    auto large = generate(kNormal, dtype, 80000, {7});
    large.resize(small.size());
    EXPECT_EQ(small, large);
  }
}

TEST(Generator, BytesAreTheSameOnEveryMachine) {
  // The expected values must not change, because the inputs of all stored runs would change with
  // them.
  const std::uint64_t bits = 2469588189546311528ULL;  // the first output of mt19937_64(1)
  const auto share_below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const std::vector<double> shorts = values(kNormal, Dtype::kBf16, 4, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    const double p = (static_cast<double>(bits >> (16 * i) & 0xffff) + 0.5) / 65536;
    EXPECT_NEAR(share_below(shorts[i]), p, 2e-3) << i;
  }
  const std::vector<double> floats = values(kNormal, Dtype::kF32, 2, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    const double p = static_cast<double>(bits >> (32 * i) & 0xffffffff) * 0x1.0p-32;
    EXPECT_NEAR(share_below(floats[i]), p, 1e-7) << i;
  }
  const std::vector<double> wide = values(kNormal, Dtype::kF64, 1, 1);
  EXPECT_NEAR(share_below(wide[0]), static_cast<double>(bits) * 0x1.0p-64, 1e-7);
  // All bits of the generated values must be equal on every machine.
  std::uint64_t all = 0;
  for (const Dtype dtype : {Dtype::kE4m3, Dtype::kF16, Dtype::kF32, Dtype::kF64}) {
    for (const Generator& generator : {kNormal, Generator{}, Generator{Distribution::kUniform}}) {
      for (const std::byte byte : generate(generator, dtype, 100000, {2, true})) {
        all = mix_seed(all, static_cast<std::uint64_t>(byte));
      }
    }
  }
  EXPECT_EQ(all, 8826467270384317567U);
}

std::size_t distinct(std::vector<double> values) {
  std::ranges::sort(values);
  return values.size() - std::ranges::unique(values).size();
}

TEST(Generator, NumbersRepeatAsRarelyAsTheTypeAllows) {
  // If the generator only drew from 2^16 quantiles, 40,000 draws would give about 29,940 different
  // values.
  EXPECT_GT(distinct(values(kNormal, Dtype::kF32, 40000, 3)), 39900);
  EXPECT_GT(distinct(values(uniform(0, 1), Dtype::kF32, 40000, 3)), 39900);
  constexpr std::size_t kMany = 1U << 20;
  EXPECT_EQ(distinct(values(kNormal, Dtype::kF64, kMany, 3)), kMany);
  EXPECT_EQ(distinct(values(uniform(0, 1), Dtype::kF64, kMany, 3)), kMany);
}

TEST(Generator, TheNormalDistributionHasItsShapeInEveryPart) {
  // Each of 1,000 equally likely intervals, including the two tails, must contain about 1,000 of
  // the 1,000,000 values.
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    std::vector<int> counts(1000);
    for (const double x : values(kNormal, dtype, 1'000'000, 4)) {
      const double p = 0.5 * std::erfc(-x / std::numbers::sqrt2);
      ++counts[static_cast<std::size_t>(std::min(p * 1000, 999.0))];
    }
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
    EXPECT_NEAR(chi_square, 999, 5 * std::sqrt(2 * 999.0));
    // One in 15,787 normally distributed numbers lies beyond four standard deviations.
    const auto drawn = values(kNormal, dtype, 1'000'000, 5);
    const auto far = std::ranges::count_if(drawn, [](double x) { return std::fabs(x) > 4; });
    EXPECT_NEAR(static_cast<double>(far), 63.3, 5 * 8);
    EXPECT_GT(far, 0);
  }
}

TEST(Generator, AUniformNumberIsBelowItsEnd) {
  // The range contains only one f32. Without a correction, more than a third of the drawn numbers
  // would be rounded to the next f32, which is above the range.
  const auto least = static_cast<double>(std::nextafter(1.1F, 1.0F));
  for (const double value : values(uniform(least, 1.1), Dtype::kF32, 1000, 1)) {
    EXPECT_LT(value, 1.1);
    EXPECT_GE(value, least);
  }
  const Extremes extremes = extremes_of(uniform(0, 1), Dtype::kF32);
  EXPECT_EQ(extremes.low, 0);
  EXPECT_EQ(extremes.high, 1 - 0x1.0p-24);
}

/// generate() fills a large array in blocks of 2^20 elements on several threads. No two blocks may
/// have the same content.
TEST(Generator, LargeDataAreTheSameEachTimeAndNoPartIsLikeAnother) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const auto once = generate(kNormal, Dtype::kF32, 3 * kPart + 5, {7});
  EXPECT_EQ(once, generate(kNormal, Dtype::kF32, 3 * kPart + 5, {7}));
  const auto part = [&](std::size_t number) {
    return std::vector(once.begin() + static_cast<std::ptrdiff_t>(number * kPart * 4),
                       once.begin() + static_cast<std::ptrdiff_t>((number * kPart + 1000) * 4));
  };
  EXPECT_NE(part(0), part(1));
  EXPECT_NE(part(1), part(2));
  const std::vector<double> all = decode_all(Dtype::kF32, once);
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(all.size()), 0, 0.01);
  EXPECT_LT(std::ranges::count(all, 0.0), 10);  // elements that were left out would be 0
}

TEST(Generator, NormalMoments) {
  std::vector<double> drawn =
      values({Distribution::kNormal, 3, 2, {}, kNoSpecial}, Dtype::kF32, 200000, 2);
  EXPECT_NEAR(mean(drawn), 3, 0.02);
  EXPECT_NEAR(standard_deviation(drawn), 2, 0.02);
  double fourth = 0;
  for (const double value : drawn) fourth += std::pow((value - 3) / 2, 4);
  EXPECT_NEAR(fourth / static_cast<double>(drawn.size()), 3, 0.1);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_NEAR(quantile(drawn, 0.975), 3 + 2 * 1.959964, 0.03);
}

TEST(Generator, UniformStaysInItsRangeAndFillsIt) {
  const auto drawn = values(uniform(-2, 6), Dtype::kF32, 100000, 3);
  const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end());
  EXPECT_GE(*low, -2);
  EXPECT_LT(*low, -1.99);
  EXPECT_LE(*high, 6);
  EXPECT_GT(*high, 5.99);
  EXPECT_NEAR(mean(drawn), 2, 0.03);
  EXPECT_NEAR(standard_deviation(drawn), 8 / std::sqrt(12.0), 0.03);
}

TEST(Generator, IntegersIncludeBothEnds) {
  const auto drawn = values(integers(-2, 3), Dtype::kI32, 6000, 4);
  const std::set<double> seen(drawn.begin(), drawn.end());
  EXPECT_EQ(seen, (std::set<double>{-2, -1, 0, 1, 2, 3}));
  for (const double value : seen) {
    const auto count = static_cast<double>(std::count(drawn.begin(), drawn.end(), value));
    EXPECT_NEAR(count, 1000, 120);
  }
}

TEST(Generator, IntegersCoverAllOf64BitsExactly) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  const auto drawn = [](const IntegerRange& range, Dtype dtype) {
    const auto bytes =
        generate({Distribution::kIntegers, 0, 0, range, kNoSpecial}, dtype, 4000, {6});
    std::vector<std::uint64_t> values(4000);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  const auto is_spread = [](const std::vector<std::uint64_t>& values, std::uint64_t low) {
    // True if every bit of `value - low` is set in about half of the values.
    for (int bit = 0; bit < 64; ++bit) {
      const auto ones = std::count_if(values.begin(), values.end(),
                                      [&](std::uint64_t v) { return ((v - low) >> bit & 1) != 0; });
      if (std::abs(static_cast<double>(ones) - 2000) > 160) return false;
    }
    return true;
  };
  EXPECT_TRUE(is_spread(drawn({false, 0, kAll}, Dtype::kU64), 0));
  const std::uint64_t lowest = std::uint64_t{1} << 63;
  EXPECT_TRUE(is_spread(drawn({true, lowest, lowest - 1}, Dtype::kI64), lowest));
  // Adjacent integers beyond 2^53 must be drawn exactly, although doubles cannot distinguish them.
  const std::uint64_t far = (std::uint64_t{1} << 60) + 1;
  const auto near = drawn({false, far, far + 1}, Dtype::kI64);
  EXPECT_EQ(std::set<std::uint64_t>(near.begin(), near.end()),
            (std::set<std::uint64_t>{far, far + 1}));
}

TEST(Generator, Constant) {
  for (const double value : values({Distribution::kConstant, 2.5, 0}, Dtype::kF16, 100, 1)) {
    EXPECT_EQ(value, 2.5);
  }
  EXPECT_TRUE(generate(kNormal, Dtype::kF32, 0, {1}).empty());
}

TEST(Generator, NeighboursAreIndependent) {
  const auto drawn = values(kNormal, Dtype::kF32, 200000, 9);
  for (const std::size_t lag : {1, 2, 3, 4}) {
    double product = 0;
    for (std::size_t i = 0; i + lag < drawn.size(); ++i) product += drawn[i] * drawn[i + lag];
    EXPECT_NEAR(product / static_cast<double>(drawn.size()), 0, 0.01) << lag;
  }
}

TEST(NormalQuantile, IsTheInverseOfTheDistribution) {
  for (const double p : {1e-12, 1e-6, 0.001, 0.02425, 0.1, 0.3, 0.5, 0.9, 0.97575, 0.999999}) {
    const double x = normal_quantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-x / std::numbers::sqrt2) / p, 1, 1e-13) << p;
  }
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.01) + normal_quantile(0.99), 0, 1e-12);
}

}  // namespace
}  // namespace evo
