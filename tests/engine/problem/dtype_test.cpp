// Compares conversions of element types with tables that the tests compute from the formulas of the
// floating-point formats.

#include "engine/problem/dtype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"

namespace evo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Format {
  const char* name;
  Dtype dtype;
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  bool saturates;
};

constexpr std::array<Format, 4> kFormats = {{{"e4m3", Dtype::kE4m3, 4, 3, false, true},
                                             {"e5m2", Dtype::kE5m2, 5, 2, true, true},
                                             {"f16", Dtype::kF16, 5, 10, true, false},
                                             {"bf16", Dtype::kBf16, 8, 7, true, false}}};

/// The value of a bit pattern by the formula of the OCP 8-bit floating point specification and IEEE
/// 754: (−1)^s · 2^(e − bias) · (1 + m / 2^M), or (−1)^s · 2^(1 − bias) · m / 2^M when e is 0. Here
/// s is the sign bit, e the exponent field, m the mantissa field, and M the number of mantissa
/// bits. The largest e also encodes NaN and, except in e4m3, infinity.
double value_of(const Format& format, unsigned code) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const unsigned mantissas = 1U << format.mantissa_bits;
  const unsigned exponents = 1U << format.exponent_bits;
  const unsigned m = code % mantissas;
  const unsigned e = code / mantissas % exponents;
  const double sign = code / mantissas / exponents != 0 ? -1 : 1;
  if (e == exponents - 1) {
    if (format.has_infinity) return m == 0 ? sign * kInfinity : kNan;
    if (m == mantissas - 1) return kNan;
  }
  const double fraction = static_cast<double>(m) / mantissas;
  return e == 0 ? sign * std::pow(2.0, 1 - bias) * fraction
                : sign * std::pow(2.0, static_cast<int>(e) - bias) * (1 + fraction);
}

unsigned code_count(const Format& format) {
  return 2U << (format.exponent_bits + format.mantissa_bits);
}

std::uint16_t encoded(Dtype dtype, double value) {
  std::uint16_t code = 0;
  encode(dtype, value, reinterpret_cast<std::byte*>(&code));
  return code;
}

double decoded(Dtype dtype, std::uint16_t code) {
  return decode(dtype, reinterpret_cast<const std::byte*>(&code));
}

class SmallFloats : public testing::TestWithParam<Format> {};

TEST_P(SmallFloats, EveryCodeDecodesToItsFormulaAndComesBack) {
  const Format& format = GetParam();
  for (unsigned code = 0; code < code_count(format); ++code) {
    const double expected = value_of(format, code);
    const double value = decoded(format.dtype, static_cast<std::uint16_t>(code));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_TRUE(std::isnan(decoded(format.dtype, encoded(format.dtype, value)))) << code;
      continue;
    }
    ASSERT_EQ(value, expected) << code;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << code;
    if (std::isfinite(expected) || !format.saturates) {
      ASSERT_EQ(encoded(format.dtype, value), code);
    }
  }
}

/// The expected bit pattern is that of the nearest number in the table of all finite values; ties
/// go to the even mantissa.
TEST_P(SmallFloats, RoundsToNearestEven) {
  const Format& format = GetParam();
  std::map<double, unsigned> finite;
  for (unsigned code = 0; code < code_count(format) / 2; ++code) {
    if (std::isfinite(value_of(format, code))) finite[value_of(format, code)] = code;
  }
  const auto nearest = [&](double value) {
    auto above = finite.lower_bound(value);
    if (above == finite.begin()) return above->second;
    if (above == finite.end()) return finite.rbegin()->second;
    const auto below = std::prev(above);
    const double up = above->first - value;
    const double down = value - below->first;
    if (up != down) return up < down ? above->second : below->second;
    return above->second % 2 == 0 ? above->second : below->second;
  };
  const double largest = finite.rbegin()->first;
  for (auto entry = finite.begin(); std::next(entry) != finite.end(); ++entry) {
    const double next = std::next(entry)->first;
    const double middle = entry->first + (next - entry->first) / 2;
    for (const double value :
         {middle, std::nextafter(middle, 0.0), std::nextafter(middle, largest)}) {
      ASSERT_EQ(encoded(format.dtype, value), nearest(value)) << format.name << " " << value;
      ASSERT_EQ(encoded(format.dtype, -value), nearest(value) + code_count(format) / 2);
    }
  }
  Random random(8);
  for (int i = 0; i < 20000; ++i) {
    const double value = largest * random.uniform() * std::pow(2.0, -20 * random.uniform());
    ASSERT_EQ(encoded(format.dtype, value), nearest(value)) << format.name << " " << value;
  }
}

TEST_P(SmallFloats, BeyondTheLargest) {
  const Format& format = GetParam();
  double largest = 0;
  for (unsigned code = 0; code < code_count(format); ++code) {
    const double value = value_of(format, code);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const double expected = format.saturates ? largest : kInfinity;
  for (const double value : {largest * 2, 1e300, kInfinity}) {
    EXPECT_EQ(decoded(format.dtype, encoded(format.dtype, value)), expected);
    EXPECT_EQ(decoded(format.dtype, encoded(format.dtype, -value)), -expected);
  }
}

TEST_P(SmallFloats, LongArraysDecodeLikeSingleElements) {
  const Format& format = GetParam();
  std::vector<std::byte> bytes(200000);
  Random random(9);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  const std::vector<double> values = decode_all(format.dtype, bytes);
  const std::size_t size = size_of(format.dtype);
  ASSERT_EQ(values.size(), bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double single = decode(format.dtype, bytes.data() + i * size);
    ASSERT_TRUE(values[i] == single || (std::isnan(values[i]) && std::isnan(single)));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloats, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(format.param.name); });

TEST(Dtype, ConstantsOfTheSpecifications) {
  EXPECT_EQ(decoded(Dtype::kE4m3, 0x7e), 448);
  EXPECT_EQ(decoded(Dtype::kE4m3, 0x01), std::pow(2.0, -9));
  EXPECT_TRUE(std::isnan(decoded(Dtype::kE4m3, 0x7f)));
  EXPECT_TRUE(std::isnan(decoded(Dtype::kE4m3, 0xff)));
  EXPECT_EQ(decoded(Dtype::kE5m2, 0x7b), 57344);
  EXPECT_EQ(decoded(Dtype::kE5m2, 0x7c), kInfinity);
  EXPECT_EQ(decoded(Dtype::kF16, 0x7bff), 65504);
  EXPECT_EQ(decoded(Dtype::kF16, 0x3555), 0.333251953125);
  EXPECT_EQ(decoded(Dtype::kBf16, 0x3f80), 1);
  EXPECT_EQ(encoded(Dtype::kE4m3, 464), 0x7e);  // half-way from 448 to 480, whose code is NaN
  EXPECT_EQ(encoded(Dtype::kF16, 65520), 0x7c00);
  EXPECT_EQ(encoded(Dtype::kF16, 65519.99), 0x7bff);
}

TEST(Dtype, F16AgreesWithTheCompilersOwnConversion) {
  // The conversion to _Float16 is independent of evo-tune, because the CPU or the compiler's
  // library does it.
  Random random(10);
  for (int i = 0; i < 200000; ++i) {
    const float value =
        static_cast<float>(random.normal() * std::pow(2.0, 30 * random.uniform() - 20));
    const auto half = static_cast<_Float16>(value);
    std::uint16_t code = 0;
    std::memcpy(&code, &half, sizeof code);
    ASSERT_EQ(encoded(Dtype::kF16, value), code) << value;
  }
}

double round_trip(Dtype dtype, double value) {
  std::array<std::byte, 8> bytes{};
  encode(dtype, value, bytes.data());
  return decode(dtype, bytes.data());
}

TEST(Dtype, IntegersRoundAndSaturate) {
  EXPECT_EQ(round_trip(Dtype::kI8, 200), 127);
  EXPECT_EQ(round_trip(Dtype::kI8, -200), -128);
  EXPECT_EQ(round_trip(Dtype::kU8, -3), 0);
  EXPECT_EQ(round_trip(Dtype::kU8, 300), 255);
  EXPECT_EQ(round_trip(Dtype::kI32, 2.5), 2);
  EXPECT_EQ(round_trip(Dtype::kI32, 3.5), 4);
  EXPECT_EQ(round_trip(Dtype::kI32, 1e12), 2147483647);
  EXPECT_EQ(round_trip(Dtype::kU32, 1e12), 4294967295.0);
  EXPECT_EQ(round_trip(Dtype::kI64, -5), -5);
  EXPECT_EQ(round_trip(Dtype::kU64, 1e30), 18446744073709551615.0);
  EXPECT_EQ(round_trip(Dtype::kI32, kNan), 0);
  EXPECT_EQ(round_trip(Dtype::kF64, 0.1), 0.1);
  EXPECT_EQ(round_trip(Dtype::kF32, 0.1), static_cast<double>(0.1F));
}

TEST(Dtype, NamesGoBothWays) {
  for (const char* name : {"e4m3", "e5m2", "f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16",
                           "i32", "u32", "i64", "u64"}) {
    EXPECT_EQ(to_string(dtype_from_string(name)), name);
  }
  try {
    (void)dtype_from_string("fp8");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("fp8"), testing::HasSubstr("e4m3")));
  }
}

TEST(Dtype, EveryTypeHoldsItsEndsAndDecodesManyAsItDecodesOne) {
  Random random(5);
  std::size_t index = 0;
  for (const DtypeRow& row : dtype_rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(static_cast<std::size_t>(row.dtype), index++);
    const WholeRange range = whole_range(row.dtype);
    for (const double end : {-static_cast<double>(range.below), static_cast<double>(range.above),
                             is_floating(row.dtype) ? largest_finite(row.dtype) : 0, 0.0, 1.0}) {
      EXPECT_EQ(round_trip(row.dtype, end), end);
    }
    if (is_floating(row.dtype)) {
      EXPECT_TRUE(std::isnan(round_trip(row.dtype, kNan)));
      EXPECT_EQ(std::isinf(round_trip(row.dtype, kInfinity)),
                row.top_exponent == TopExponent::kInfinity);
    }
    std::vector<std::byte> bytes(1000 * row.bytes);
    for (std::byte& byte : bytes) byte = std::byte(random.bits() & 0xff);
    const std::vector<double> values = decode_all(row.dtype, bytes);
    ASSERT_EQ(values.size(), 1000U);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double one = decode(row.dtype, bytes.data() + i * row.bytes);
      ASSERT_TRUE(values[i] == one || (std::isnan(values[i]) && std::isnan(one))) << i;
    }
  }
}

TEST(Dtype, ScalarsHaveTypesThatKernelsTakeByValue) {
  EXPECT_EQ(dtype_names(may_be_scalar),
            "f16, bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64");
}

}  // namespace
}  // namespace evo
