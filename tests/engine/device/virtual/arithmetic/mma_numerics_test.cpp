#include "engine/device/virtual/arithmetic/mma_numerics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"

namespace evo::ptx {
namespace {

float random_value(Random& random, bool fp8) {
  const double value = random.normal() * std::exp2(static_cast<double>(random.below(12)) - 6);
  const auto narrow = static_cast<float>(value);
  return fp8 ? e4m3_to_float(float_to_e4m3(narrow)) : half_to_float(float_to_half(narrow));
}

struct Case {
  const char* arch;
  bool fp8;
  int k;
  bool wgmma = false;
};

class MmaTileRule : public testing::TestWithParam<Case> {};

/// Compares the vectorised mma_tile() with a simple loop, element by element.
TEST_P(MmaTileRule, AgreesWithThePlainForm) {
  const auto [arch, fp8, k, wgmma] = GetParam();
  const MmaNumerics numerics = mma_numerics(arch);
  const DotRule& rule = wgmma ? (fp8 ? numerics.wgmma_fp8 : numerics.wgmma_half)
                              : (fp8 ? numerics.fp8 : numerics.half);
  const int least = fp8 ? -6 : -14;
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> a(16 * static_cast<std::size_t>(k)), b(8 * static_cast<std::size_t>(k)),
        c(128), d(128);
    for (float& v : a) v = random.below(10) == 0 ? 0.0F : random_value(random, fp8);
    for (float& v : b) v = random_value(random, fp8);
    for (float& v : c)
      v = static_cast<float>(random.normal() *
                             std::exp2(static_cast<double>(random.below(20)) - 10));
    if (round == 7) a[3] = INFINITY;
    if (round == 8) b[5] = NAN;
    if (round == 9 || round == 10) {  // with bf16, a product may not fit a float
      a[3] = round == 9 ? 0x1.8p64F : -0x1p100F;
      b[24] = round == 9 ? 0x1.8p64F : 0x1p100F;
    }
    mma_tile(rule, k, least, false, a.data(), b.data(), c.data(), d.data());
    const int step = std::min(rule.step, k);
    for (int row = 0; row < 16; ++row) {
      for (int n = 0; n < 8; ++n) {
        float acc = c[static_cast<std::size_t>(row * 8 + n)];
        for (int from = 0; from < k; from += step) {
          std::vector<float> x, y;
          for (int i = from; i < from + step; ++i) {
            x.push_back(a[static_cast<std::size_t>(row * k + i)]);
            y.push_back(b[static_cast<std::size_t>(i * 8 + n)]);
          }
          acc = dot_step_reference(rule, step, least, x.data(), y.data(), acc);
        }
        const float got = d[static_cast<std::size_t>(row * 8 + n)];
        if (std::isnan(acc)) {
          EXPECT_TRUE(std::isnan(got));
        } else {
          ASSERT_EQ(got, acc) << "row " << row << " column " << n;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, MmaTileRule,
                         testing::Values(Case{"sm_80", false, 8}, Case{"sm_80", false, 16},
                                         Case{"sm_89", false, 16}, Case{"sm_89", true, 32},
                                         Case{"sm_90", false, 16}, Case{"sm_90", true, 32},
                                         Case{"sm_90a", false, 16, true},
                                         Case{"sm_90a", true, 32, true}));

/// Compares widen_rows(), for all values of the 8- and 16-bit formats, with conversions of single
/// values.
TEST(WidenRows, IsExactForEveryValue) {
  std::vector<std::uint8_t> bytes(256);
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  const auto expect = [](const void* from, Type type, int rows, int row_bytes, std::size_t count,
                         auto&& one) {
    std::vector<float> wide(count);
    widen_rows(static_cast<const std::byte*>(from), type, row_bytes, rows, wide.data(),
               static_cast<int>(count) / rows);
    for (std::size_t i = 0; i < count; ++i) {
      const float expected = one(i);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(wide[i])) << i;
      } else {
        EXPECT_EQ(float_bits(wide[i]), float_bits(expected)) << i;
      }
    }
  };
  expect(bytes.data(), Type::kE4m3, 8, 32, 256,
         [&](std::size_t i) { return e4m3_to_float(bytes[i]); });
  expect(bytes.data(), Type::kE5m2, 8, 32, 256,
         [&](std::size_t i) { return e5m2_to_float(bytes[i]); });
  expect(halves.data(), Type::kF16, 8192, 16, 65536,
         [&](std::size_t i) { return half_to_float(halves[i]); });
  expect(halves.data(), Type::kBf16, 1, 131072, 65536,
         [&](std::size_t i) { return bfloat_to_float(halves[i]); });
}

TEST(TransposeRows, TurnsEightRowsIntoColumns) {
  for (const int k : {8, 16, 32}) {
    std::vector<float> rows(static_cast<std::size_t>(8 * k)), columns(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
    transpose_rows(rows.data(), k, columns.data());
    for (int row = 0; row < 8; ++row) {
      for (int i = 0; i < k; ++i) {
        EXPECT_EQ(columns[static_cast<std::size_t>(i * 8 + row)], static_cast<float>(row * k + i));
      }
    }
  }
}

/// Ada keeps 13 fraction bits in a sum of fp8 products, so the last bit of a sum with the term 2^12
/// is 2^-1.
TEST(MmaNumerics, AdaFp8SumsKeepThirteenBits) {
  const auto sum = [](const char* arch, float large, float small) {
    std::vector<float> a(16 * 32, 0.0F), b(32 * 8, 0.0F), c(128, 0.0F), d(128);
    a[0] = large;
    a[1] = small;
    b[0] = 1;
    b[8] = 1;
    b[16] = 0;
    c[0] = 4096;
    mma_tile(mma_numerics(arch).fp8, 32, -6, false, a.data(), b.data(), c.data(), d.data());
    return d[0];
  };
  EXPECT_EQ(sum("sm_89", 256, 0.5F), 4352.5F);
  EXPECT_EQ(sum("sm_89", 256, 0.25F), 4352.0F);   // 2^12 · 2^-13 = 0.5 is the last bit
  EXPECT_EQ(sum("sm_90", 256, 0.25F), 4352.25F);  // mma.sync of Hopper unpacks fp8 to f16
}

TEST(MmaNumerics, F16SumsTruncateTowardZero) {
  std::vector<float> a(16 * 16, 0.0F), b(16 * 8, 0.0F), c(128, 0.0F), d(128);
  a[0] = 1;
  b[0] = -0x1p-24F;
  c[0] = 1;
  mma_tile(mma_numerics("sm_89").half, 16, -14, false, a.data(), b.data(), c.data(), d.data());
  EXPECT_EQ(d[0], std::nextafter(1.0F, 0.0F));
  b[0] = 0x1p-24F;
  mma_tile(mma_numerics("sm_89").half, 16, -14, false, a.data(), b.data(), c.data(), d.data());
  EXPECT_EQ(d[0], 1.0F);
}

TEST(MmaNumerics, OnlyNewArchitecturesHaveFp8) {
  EXPECT_FALSE(mma_numerics("sm_80").has_fp8);
  EXPECT_TRUE(mma_numerics("sm_89").has_fp8);
  EXPECT_TRUE(mma_numerics("sm_90a").has_fp8);
}

/// An fp8 matrix product that is unpacked to f16 starts each sum from zero, adds the products of
/// bytes 4t and 4t + 1 of a row (t = 0 … 7), then those of bytes 4t + 2 and 4t + 3, and finally C.
TEST(UnpackedFp8Tile, AddsCToTwoProductsOfHalves) {
  const DotRule rule = mma_numerics("sm_90").fp8;
  Random random(6);
  std::vector<float> a(16 * 32), b(32 * 8), c(128), d(128);
  for (float& v : a) v = e4m3_to_float(static_cast<std::uint8_t>(random.bits() & 0xf7U));
  for (float& v : b) v = e4m3_to_float(static_cast<std::uint8_t>(random.bits() & 0xf7U));
  for (float& v : c) v = static_cast<float>(random.normal());
  unpacked_fp8_tile(rule, false, a.data(), b.data(), c.data(), d.data());
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t n = 0; n < 8; ++n) {
      float sum = 0;
      for (const std::size_t half : {0U, 2U}) {
        std::vector<float> x, y;
        for (std::size_t k = half; k < 32; k += k % 2 == 0 ? 1 : 3) {
          x.push_back(a[row * 32 + k]);
          y.push_back(b[k * 8 + n]);
        }
        sum = dot_step_reference(rule, 16, -14, x.data(), y.data(), sum);
      }
      EXPECT_EQ(d[row * 8 + n], c[row * 8 + n] + sum);
    }
  }
}

}  // namespace
}  // namespace evo::ptx
