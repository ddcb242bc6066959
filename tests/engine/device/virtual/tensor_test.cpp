#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Compares kernels of kernels/tensor.cu with simple loops over the matrices.

namespace evo::test {
namespace {

using ptx::e4m3_to_float;
using ptx::float_to_e4m3;
using ptx::float_to_half;
using ptx::half_to_float;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U8 = std::uint8_t;

class Tensor : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
  static const std::string& ptx() {
    static const std::string text = compile_to_ptx(kernel_source("tensor.cu"), "compute_89");
    return text;
  }
  void launch(const char* entry, const std::vector<KernelArgument>& arguments) {
    ASSERT_EQ(text_of(gpu_.run(ptx(), entry, {.grid = {1, 1, 1}, .block = {32, 1, 1}}, arguments)),
              "");
  }
  std::vector<U16> halves(std::size_t count) {
    std::vector<U16> values(count);
    for (U16& v : values) v = float_to_half(static_cast<float>(random_.normal()));
    return values;
  }

  TestGpu gpu_;
  Random random_{9};
};

TEST_F(Tensor, MmaF16PutsEveryElementInItsPlace) {
  const auto a = halves(256);
  const auto b = halves(128);
  std::vector<float> c(128);
  for (float& v : c) v = static_cast<float>(random_.normal());
  const BufferId d = gpu_.output<float>("d", 128);
  launch("mma_f16", {gpu_.input("a", a), gpu_.input("b", b), gpu_.input("c", c), d});
  const auto got = gpu_.read<float>(d, 128);
  for (std::size_t i = 0; i < 128; ++i) {
    double want = static_cast<double>(c[i]);
    for (std::size_t k = 0; k < 16; ++k)
      want += static_cast<double>(half_to_float(a[i / 8 * 16 + k])) *
              static_cast<double>(half_to_float(b[k * 8 + i % 8]));
    EXPECT_NEAR(static_cast<double>(got[i]), want, 2e-6 * (std::abs(want) + 4))
        << "row " << i / 8 << " column " << i % 8;
  }
}

TEST_F(Tensor, MmaE4m3AndS8PutEveryElementInItsPlace) {
  std::vector<U8> a(512), b(256);
  for (U8& v : a) v = float_to_e4m3(static_cast<float>(random_.normal()));
  for (U8& v : b) v = float_to_e4m3(static_cast<float>(random_.normal()));
  const BufferId d = gpu_.output<float>("d", 128);
  launch("mma_e4m3", {gpu_.input("a", a), gpu_.input("b", b), d});
  const auto got = gpu_.read<float>(d, 128);
  const BufferId s = gpu_.output<int>("s", 128);
  launch("mma_s8", {gpu_.input("a", a), gpu_.input("b", b), s});
  const auto integers = gpu_.read<int>(s, 128);
  for (std::size_t i = 0; i < 128; ++i) {
    double want = 0;
    int sum = 0;
    for (std::size_t k = 0; k < 32; ++k) {
      const U8 x = a[i / 8 * 32 + k];
      const U8 y = b[k * 8 + i % 8];
      want += static_cast<double>(e4m3_to_float(x)) * static_cast<double>(e4m3_to_float(y));
      sum += static_cast<std::int8_t>(x) * static_cast<std::int8_t>(y);
    }
    // A sum keeps 13 fraction bits below its largest term, which is less than 16 here, so each of
    // the 33 terms (32 products and C) may lose 16 · 2^-13.
    EXPECT_NEAR(static_cast<double>(got[i]), want, 34 * std::exp2(-13) * 16);
    EXPECT_EQ(integers[i], sum);
  }
}

TEST_F(Tensor, LdmatrixPlainAndTransposed) {
  std::vector<U16> in(256);
  for (std::size_t i = 0; i < 256; ++i) in[i] = static_cast<U16>(i);
  const BufferId out = gpu_.output<U32>("out", 256);
  launch("load_matrices", {gpu_.input("in", in), out});
  const auto got = gpu_.read<U32>(out, 256);
  for (U32 m = 0; m < 4; ++m) {
    for (U32 lane = 0; lane < 32; ++lane) {
      const U32 g = lane / 4;
      const U32 t = lane % 4;
      const auto element = [&](U32 row, U32 column) { return 64 * m + 8 * row + column; };
      EXPECT_EQ(got[32 * m + lane], element(g, 2 * t) | element(g, 2 * t + 1) << 16);
      EXPECT_EQ(got[128 + 32 * m + lane], element(2 * t, g) | element(2 * t + 1, g) << 16);
    }
  }
}

TEST_F(Tensor, WmmaFromSharedWithPaddedRows) {
  const auto a = halves(256);
  const auto b = halves(256);
  for (const int stride : {16, 24}) {
    const BufferId c = gpu_.output<float>("c", 256);
    launch("wmma_product", {gpu_.input("a", a), gpu_.input("b", b), c, ScalarArgument::of(stride)});
    const auto got = gpu_.read<float>(c, 256);
    for (std::size_t i = 0; i < 256; ++i) {
      double want = 0;
      for (std::size_t k = 0; k < 16; ++k)
        want += static_cast<double>(half_to_float(a[i / 16 * 16 + k])) *
                static_cast<double>(half_to_float(b[i % 16 * 16 + k]));
      EXPECT_NEAR(static_cast<double>(got[i]), want, 2e-6 * (std::abs(want) + 4));
    }
  }
}

TEST_F(Tensor, E4m3PairsHaveTheFirstSourceInTheUpperByte) {
  std::vector<float> in(64);
  for (float& v : in) v = static_cast<float>(random_.normal() * 100);
  in[0] = 1000;
  in[1] = -1e9F;
  const BufferId bytes = gpu_.output<U16>("bytes", 32);
  const BufferId wide = gpu_.output<U32>("halves", 32);
  launch("convert_e4m3", {gpu_.input("in", in), bytes, wide});
  const auto got = gpu_.read<U16>(bytes, 32);
  const auto back = gpu_.read<U32>(wide, 32);
  EXPECT_EQ(got[0], 0x7efe);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(got[i], float_to_e4m3(in[2 * i]) << 8 | float_to_e4m3(in[2 * i + 1]));
    EXPECT_EQ(half_to_float(static_cast<U16>(back[i])), e4m3_to_float(static_cast<U8>(got[i])));
    EXPECT_EQ(half_to_float(static_cast<U16>(back[i] >> 16)),
              e4m3_to_float(static_cast<U8>(got[i] >> 8)));
  }
}

TEST_F(Tensor, AsyncCopiesFillWithZeros) {
  // The input ends where the source of the last cp.async ends, so each byte behind it is out of
  // bounds.
  for (const U32 bytes : {1U, 6U, 16U, 40U, 43U, 512U}) {
    const std::vector<U8> in(bytes, 7);
    const BufferId out = gpu_.output<U8>("out", 512);
    launch("copy_with_zero_fill",
           {gpu_.input("in", in), out, ScalarArgument::of(static_cast<int>(bytes))});
    const auto got = gpu_.read<U8>(out, 512);
    for (std::size_t i = 0; i < 512; ++i) ASSERT_EQ(got[i], i < bytes ? 7U : 0U) << bytes;
  }
}

TEST_F(Tensor, AsyncCopiesReadAllBytesOfTheirSources) {
  const BufferId in = gpu_.input("in", std::vector<U8>(42, 7));
  const auto fault =
      gpu_.run(ptx(), "copy_with_zero_fill", {.grid = {1, 1, 1}, .block = {32, 1, 1}},
               {in, gpu_.output<U8>("out", 512), ScalarArgument::of(43)});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("out-of-bounds")) << fault->reason;
}

TEST_F(Tensor, PaddingMayBeCopiedButNotUsed) {
  const BufferId in = gpu_.output<U32>("in", 128);
  const BufferId out = gpu_.output<U32>("out", 32);
  launch("fill_first_words", {in});
  launch("copies_padding", {in, out, ScalarArgument::of(0)});
  EXPECT_EQ(gpu_.read<U32>(out, 32)[7], 7U);
  const auto fault = gpu_.run(ptx(), "copies_padding", {.grid = {1, 1, 1}, .block = {32, 1, 1}},
                              {in, out, ScalarArgument::of(1)});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("uninitialised data")) << fault->reason;
}

TEST_F(Tensor, HalfArithmeticRoundsOnce) {
  std::vector<U32> a(32), b(32), c(32);
  const auto random_pair = [&] {
    const auto one = [&] {
      return static_cast<U32>(float_to_half(static_cast<float>(
          random_.normal() * std::exp2(static_cast<double>(random_.below(16)) - 8))));
    };
    return one() | one() << 16;
  };
  for (std::size_t i = 0; i < 32; ++i)
    a[i] = random_pair(), b[i] = random_pair(), c[i] = random_pair();
  const BufferId out = gpu_.output<U32>("out", 128);
  launch("half_pairs", {gpu_.input("a", a), gpu_.input("b", b), gpu_.input("c", c), out});
  const auto got = gpu_.read<U32>(out, 128);
  for (std::size_t i = 0; i < 32; ++i) {
    for (U32 h = 0; h < 2; ++h) {
      const auto part = [&](U32 word) { return static_cast<U16>(word >> (16 * h)); };
      const double x = static_cast<double>(half_to_float(part(a[i])));
      const double y = static_cast<double>(half_to_float(part(b[i])));
      const double z = static_cast<double>(half_to_float(part(c[i])));
      // The inputs have few enough bits that the 64-bit significand of long double holds the exact
      // result.
      const long double exact = static_cast<long double>(x) * y + z;
      EXPECT_EQ(part(got[4 * i]), ptx::double_to_half(x + y));
      EXPECT_EQ(part(got[4 * i + 1]), ptx::double_to_half(x * y));
      EXPECT_EQ(part(got[4 * i + 2]), ptx::double_to_half(static_cast<double>(exact)));
      EXPECT_EQ(part(got[4 * i + 3]), x > y ? part(a[i]) : part(b[i]));
    }
  }
}

TEST_F(Tensor, Ex2StaysWithinItsDocumentedError) {
  std::vector<float> in(20000);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(-125.9 +
                               250.0 * static_cast<double>(i) / static_cast<double>(in.size()));
  in[0] = -INFINITY;
  in[1] = -200;
  in[2] = 0;
  in[3] = 200;
  const BufferId out = gpu_.output<float>("out", in.size());
  launch("exponentials",
         {gpu_.input("in", in), out, ScalarArgument::of(static_cast<int>(in.size()))});
  const auto got = gpu_.read<float>(out, in.size());
  EXPECT_EQ(got[0], 0.0F);
  EXPECT_EQ(got[1], 0.0F);
  EXPECT_EQ(got[2], 1.0F);
  EXPECT_TRUE(std::isinf(got[3]));
  double worst = 0;
  for (std::size_t i = 4; i < in.size(); ++i) {
    const double want = std::exp2(static_cast<double>(in[i]));
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - want) / want);
  }
  EXPECT_LT(worst, std::exp2(-22));
}

}  // namespace
}  // namespace evo::test
