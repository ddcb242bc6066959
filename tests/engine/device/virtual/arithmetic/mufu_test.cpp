// Compares mufu_exp2() and mufu_reciprocal() with the instructions MUFU.EX2 and MUFU.RCP: a hash
// over millions of results must equal the hash of the results of an H200.

#include "engine/device/virtual/arithmetic/mufu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/core/hash.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint32_t kFractions = 1U << 23;

template <typename F>
std::string hash_of(std::uint32_t count, F&& result) {
  std::vector<std::uint32_t> bits(count);
  for (std::uint32_t i = 0; i < count; ++i) bits[i] = float_bits(result(i));
  ContentHash hash;
  hash.add({reinterpret_cast<const char*>(bits.data()), bits.size() * sizeof(bits[0])});
  return hash.hex();
}

TEST(Mufu, Exp2OfEveryFractionIsTheHardwares) {
  const auto result = [](std::uint32_t i) { return mufu_exp2(static_cast<float>(i) * 0x1p-23F); };
  EXPECT_EQ(hash_of(kFractions, result), "41e56c1908a5f81eab2caa04953132ab");
}

TEST(Mufu, Exp2OfNegativeNumbersIsTheHardwares) {
  // The arguments run from -2^-7 to about -8, in steps of 20 units in the last place.
  const auto result = [](std::uint32_t i) { return mufu_exp2(-bits_float(0x3c000000U + 20 * i)); };
  EXPECT_EQ(hash_of(kFractions / 2, result), "994fb19d022d0cee4759a528f6b99533");
}

TEST(Mufu, ReciprocalOfEveryFractionIsTheHardwares) {
  const auto result = [](std::uint32_t i) {
    return mufu_reciprocal(1 + static_cast<float>(i) * 0x1p-23F);
  };
  EXPECT_EQ(hash_of(kFractions, result), "07d41b4e270f659c71b2f6b3b2b6e158");
}

TEST(Mufu, Exp2OfIntegersIsExactAndTheRangeEndsInZeroAndInfinity) {
  for (int n = -126; n < 128; ++n)
    EXPECT_EQ(mufu_exp2(static_cast<float>(n)), std::ldexp(1.0F, n)) << n;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float_bits(mufu_exp2(-126.5F)), 0U);
  EXPECT_EQ(float_bits(mufu_exp2(-kInfinity)), 0U);
  EXPECT_EQ(mufu_exp2(128.0F), kInfinity);
  EXPECT_EQ(mufu_exp2(kInfinity), kInfinity);
  EXPECT_EQ(mufu_exp2(-0.0F), 1.0F);
  EXPECT_EQ(mufu_exp2(-0x1p-130F), 1.0F);
  EXPECT_EQ(float_bits(mufu_exp2(-std::numeric_limits<float>::quiet_NaN())), 0x7fffffffU);
}

TEST(Mufu, ReciprocalFlushesSubnormalNumbersOnBothSides) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int n = -126; n <= 126; ++n)
    EXPECT_EQ(mufu_reciprocal(std::ldexp(-1.0F, n)), std::ldexp(-1.0F, -n)) << n;
  EXPECT_EQ(mufu_reciprocal(-0x1p-127F), -kInfinity);
  EXPECT_EQ(mufu_reciprocal(0.0F), kInfinity);
  EXPECT_EQ(float_bits(mufu_reciprocal(-0x1.8p126F)), 0x80000000U);
  EXPECT_EQ(float_bits(mufu_reciprocal(-kInfinity)), 0x80000000U);
  EXPECT_EQ(float_bits(mufu_reciprocal(-std::numeric_limits<float>::quiet_NaN())), 0x7fffffffU);
}

}  // namespace
}  // namespace evo::ptx
