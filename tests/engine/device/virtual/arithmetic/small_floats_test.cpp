#include "engine/device/virtual/arithmetic/small_floats.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"

namespace evo::ptx {
namespace {

/// The value of a bit pattern in a format with `exponent_bits` and `mantissa_bits`, by definition.
double value_by_definition(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double mantissa =
      static_cast<double>(bits & ((1U << mantissa_bits) - 1)) / std::exp2(mantissa_bits);
  return exponent == 0 ? std::ldexp(mantissa, 1 - bias) : std::ldexp(1 + mantissa, exponent - bias);
}

/// The bit pattern, up to `last`, of the value that is nearest to `value`, found by search; ties go
/// to the even pattern.
unsigned nearest_by_search(double value, int exponent_bits, int mantissa_bits, unsigned last) {
  unsigned best = 0;
  double distance = std::abs(value);
  for (unsigned bits = 1; bits <= last; ++bits) {
    const double d = std::abs(value - value_by_definition(bits, exponent_bits, mantissa_bits));
    if (d < distance || (d == distance && bits % 2 == 0)) {
      best = bits;
      distance = d;
    }
  }
  return best;
}

TEST(SmallFloats, WidenExactly) {
  for (unsigned h = 0; h < 0x7c00; ++h) {
    ASSERT_EQ(static_cast<double>(half_to_float(static_cast<std::uint16_t>(h))),
              value_by_definition(h, 5, 10));
    ASSERT_EQ(half_to_float(static_cast<std::uint16_t>(h | 0x8000U)),
              -half_to_float(static_cast<std::uint16_t>(h)));
  }
  EXPECT_TRUE(std::isinf(half_to_float(0x7c00)));
  EXPECT_TRUE(std::isnan(half_to_float(0x7c01)));
  for (unsigned b = 0; b < 0x7f; ++b)
    ASSERT_EQ(static_cast<double>(e4m3_to_float(static_cast<std::uint8_t>(b))),
              value_by_definition(b, 4, 3));
  EXPECT_TRUE(std::isnan(e4m3_to_float(0x7f)));
  for (unsigned b = 0; b < 0x7c; ++b)
    ASSERT_EQ(static_cast<double>(e5m2_to_float(static_cast<std::uint8_t>(b))),
              value_by_definition(b, 5, 2));
}

TEST(SmallFloats, RoundTrip) {
  for (unsigned h = 0; h < 0x7c00; ++h)
    ASSERT_EQ(float_to_half(half_to_float(static_cast<std::uint16_t>(h))), h);
  for (unsigned b = 0; b < 0x7f; ++b)
    ASSERT_EQ(float_to_e4m3(e4m3_to_float(static_cast<std::uint8_t>(b))), b);
  for (unsigned b = 0; b < 0x7c; ++b)
    ASSERT_EQ(float_to_e5m2(e5m2_to_float(static_cast<std::uint8_t>(b))), b);
}

TEST(SmallFloats, RoundToNearestEvenAgainstASearch) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const auto value = static_cast<float>(
        std::ldexp(1 + random.uniform(), static_cast<int>(random.below(22)) - 12));
    ASSERT_EQ(float_to_e4m3(value),
              value > 464
                  ? 0x7e
                  : std::min(nearest_by_search(static_cast<double>(value), 4, 3, 0x7e), 0x7eU))
        << value;
    ASSERT_EQ(float_to_e5m2(value), nearest_by_search(static_cast<double>(value), 5, 2, 0x7b))
        << value;
  }
  for (int i = 0; i < 40; ++i) {
    const auto value = static_cast<float>(
        std::ldexp(1 + random.uniform(), static_cast<int>(random.below(30)) - 16));
    ASSERT_EQ(float_to_half(value), nearest_by_search(static_cast<double>(value), 5, 10, 0x7bff))
        << value;
    ASSERT_EQ(double_to_half(static_cast<double>(value)), float_to_half(value));
  }
  // 1 + 2^-11 + 2^-40 lies just above the middle of two f16, so it must be rounded up. If it were
  // rounded to float first, 2^-40 would be lost, and the result would be the even f16 below.
  EXPECT_EQ(double_to_half(1.0 + 0x1p-11 + 0x1p-40), float_to_half(1.0F) + 1);
  EXPECT_EQ(float_to_half(65519.0F), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_e4m3(INFINITY), 0x7e);
  EXPECT_EQ(float_to_e4m3(-1000.0F), 0xfe);
  EXPECT_EQ(float_to_e4m3(NAN), 0x7f);
  EXPECT_EQ(float_to_bfloat(1.00390625F), 0x3f80);
  EXPECT_EQ(float_to_half_rz(65535.0F), 0x7bff);
  EXPECT_EQ(float_to_half_rz(0x1.fffp-15F), 0x3ff);
}

}  // namespace
}  // namespace evo::ptx
