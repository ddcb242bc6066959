#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/engine/device/virtual/ordinary_fixture.hpp"

// Compares results of kernels in kernels/ordinary.cu with the CPU: data-parallel kernels and
// arithmetic.

namespace evo::test {
namespace {

TEST_F(Ordinary, Saxpy) {
  const auto x = floats(1000, -2, 2);
  auto y = floats(1000, -2, 2);
  const BufferId by = gpu_.inout("y", y);
  launch("saxpy", {4, 1, 1}, {256, 1, 1},
         {gpu_.input("x", x), by, ScalarArgument::of(1.5F), n(1000)});
  for (std::size_t i = 0; i < 1000; ++i) y[i] = std::fma(1.5F, x[i], y[i]);
  EXPECT_EQ(gpu_.read<float>(by, 1000), y);
}

TEST_F(Ordinary, GridStrideSumWithFloatAtomics) {
  const auto x = floats(5000, -1, 1);
  const BufferId out = gpu_.inout("out", std::vector<float>{0});
  launch("grid_stride_sum_square", {3, 1, 1}, {128, 1, 1}, {gpu_.input("x", x), out, n(5000)});
  double want = 0;
  for (const float v : x) want += static_cast<double>(v) * static_cast<double>(v);
  expect_close(gpu_.read<float>(out, 1), {want}, 1e-5);
}

TEST_F(Ordinary, ReductionsByTreeAndByShuffle) {
  const auto x = integers(1000, -50, 50);
  for (const char* entry : {"reduce_tree", "reduce_shuffle"}) {
    const BufferId out = gpu_.output<int>("out", 4);
    launch(entry, {4, 1, 1}, {256, 1, 1}, {gpu_.input("x", x), out, n(1000)});
    const auto got = gpu_.read<int>(out, 4);
    for (std::size_t b = 0; b < 4; ++b) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(256 * b);
      const auto last = b == 3 ? x.end() : first + 256;
      EXPECT_EQ(got[b], std::accumulate(first, last, 0)) << entry;
    }
  }
}

TEST_F(Ordinary, LastCtaCombines) {
  const auto x = integers(4000, -5000, 5000);
  const BufferId out = gpu_.output<int>("out", 9);
  launch("reduce_max_cooperative", {8, 1, 1}, {256, 1, 1}, {gpu_.input("x", x), out, n(4000)});
  EXPECT_EQ(gpu_.read<int>(out, 1)[0], *std::ranges::max_element(x));
}

TEST_F(Ordinary, Scans) {
  const auto x = integers(256, -9, 9);
  std::vector<int> want(256);
  std::partial_sum(x.begin(), x.end(), want.begin());
  for (const char* entry : {"scan_block", "scan_warp_shuffle"}) {
    const BufferId out = gpu_.output<int>("out", 256);
    launch(entry, {1, 1, 1}, {256, 1, 1}, {gpu_.input("x", x), out, n(256)});
    EXPECT_EQ(gpu_.read<int>(out, 256), want) << entry;
  }
}

TEST_F(Ordinary, TransposeWithPaddingAndTails) {
  constexpr std::size_t kSize = 75;
  const auto in = floats(kSize * kSize, 0, 1);
  const BufferId out = gpu_.output<float>("out", kSize * kSize);
  launch("transpose_padded", {3, 3, 1}, {32, 8, 1}, {gpu_.input("in", in), out, n(kSize)});
  const auto want = generate<float>(
      kSize * kSize, [&](std::size_t i) { return in[i % kSize * kSize + i / kSize]; });
  EXPECT_EQ(gpu_.read<float>(out, kSize * kSize), want);
}

TEST_F(Ordinary, MatrixProducts) {
  constexpr std::size_t kSize = 37;
  const auto a = floats(kSize * kSize, -1, 1);
  const auto b = floats(kSize * kSize, -1, 1);
  std::vector<double> want(kSize * kSize, 0);
  for (std::size_t i = 0; i < kSize * kSize; ++i) {
    for (std::size_t k = 0; k < kSize; ++k)
      want[i] += static_cast<double>(a[i / kSize * kSize + k]) *
                 static_cast<double>(b[k * kSize + i % kSize]);
  }
  for (const char* entry : {"gemm_naive", "gemm_tiled"}) {
    const BufferId c = gpu_.output<float>("c", kSize * kSize);
    launch(entry, {3, 3, 1}, {16, 16, 1}, {gpu_.input("a", a), gpu_.input("b", b), c, n(kSize)});
    expect_close(gpu_.read<float>(c, kSize * kSize), want, 1e-5, 1e-5);
  }
}

TEST_F(Ordinary, StencilWithConstantTaps) {
  const auto in = floats(300, -1, 1);
  const BufferId out = gpu_.output<float>("out", 300);
  launch("stencil_halo", {3, 1, 1}, {128, 1, 1}, {gpu_.input("in", in), out, n(300)});
  const double taps[5] = {0.1, 0.2, 0.4, 0.2, 0.1};
  const auto want = generate<double>(300, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      const std::size_t at = i + k;
      if (at >= 2 && at - 2 < 300) sum += taps[k] * static_cast<double>(in[at - 2]);
    }
    return sum;
  });
  expect_close(gpu_.read<float>(out, 300), want, 1e-5, 1e-6);
}

TEST_F(Ordinary, HistogramWithSharedAtomics) {
  const auto in = generate<std::uint8_t>(
      5000, [&](std::size_t) { return static_cast<std::uint8_t>(random_.below(256)); });
  const BufferId out = gpu_.inout("out", std::vector<U32>(256, 0));
  launch("histogram_shared", {5, 1, 1}, {256, 1, 1}, {gpu_.input("in", in), out, n(5000)});
  std::vector<U32> want(256, 0);
  for (const std::uint8_t v : in) ++want[v];
  EXPECT_EQ(gpu_.read<U32>(out, 256), want);
}

TEST_F(Ordinary, NarrowSharedElementsAreNoRace) {
  const auto bytes =
      generate<std::uint8_t>(200, [](std::size_t i) { return static_cast<std::uint8_t>(i * 7); });
  const BufferId out = gpu_.output<std::uint8_t>("out", 200);
  launch("bytes_reverse", {1, 1, 1}, {200, 1, 1}, {gpu_.input("in", bytes), out, n(200)});
  EXPECT_EQ(gpu_.read<std::uint8_t>(out, 200),
            std::vector<std::uint8_t>(bytes.rbegin(), bytes.rend()));
  const auto halves = generate<std::uint16_t>(
      200, [](std::size_t i) { return static_cast<std::uint16_t>(i * 777); });
  const BufferId rotated = gpu_.output<std::uint16_t>("out", 200);
  launch("halves_rotate", {1, 1, 1}, {200, 1, 1}, {gpu_.input("in", halves), rotated, n(200)});
  EXPECT_EQ(gpu_.read<std::uint16_t>(rotated, 200),
            generate<std::uint16_t>(200, [&](std::size_t i) { return halves[(i + 199) % 200]; }));
}

TEST_F(Ordinary, BitTricks) {
  auto in = generate<U32>(100, [&](std::size_t) { return static_cast<U32>(random_.bits()); });
  in[0] = 0;
  in[1] = 0xffffffffU;
  const BufferId out = gpu_.output<U32>("out", 800);
  launch("bit_tricks", {1, 1, 1}, {128, 1, 1}, {gpu_.input("in", in), out, n(100)});
  const auto got = gpu_.read<U32>(out, 800);
  for (U32 i = 0; i < 100; ++i) {
    const U32 x = in[i];
    U32 reversed = 0;
    for (U32 b = 0; b < 32; ++b) reversed |= ((x >> b) & 1U) << (31 - b);
    const auto byte = [](U32 v, U32 k) { return (v >> (8 * k)) & 0xffU; };
    U32 sum = 0;
    for (U32 k = 0; k < 4; ++k) sum |= ((byte(x, k) + byte(0x01020304, k)) & 0xffU) << (8 * k);
    const std::vector<U32> want = {
        static_cast<U32>(std::popcount(x)),
        static_cast<U32>(std::countl_zero(x)),
        reversed,
        x == 0 ? 0U : static_cast<U32>(std::countr_zero(x)) + 1,
        byte(x, 1) | byte(x, 3) << 8 | byte(~x, 1) << 16 | byte(~x, 3) << 24,
        i % 32 == 0 ? ~x : (~x << (i % 32)) | (x >> (32 - i % 32)),
        (x >> 3 & 0x1fU) | (x << 27),
        sum};
    EXPECT_EQ(std::vector<U32>(got.begin() + 8 * i, got.begin() + 8 * i + 8), want) << "x = " << x;
  }
}

TEST_F(Ordinary, WideIntegers) {
  const auto in =
      generate<U64>(64, [&](std::size_t i) { return i == 0 ? 0 : random_.bits() >> (i % 40); });
  const BufferId out = gpu_.output<U64>("out", 384);
  launch("wide_integers", {1, 1, 1}, {64, 1, 1}, {gpu_.input("in", in), out, n(64)});
  const auto got = gpu_.read<U64>(out, 384);
  for (U64 i = 0; i < 64; ++i) {
    const U64 x = in[i];
    const auto high = static_cast<U64>((static_cast<unsigned __int128>(x) * x) >> 64);
    const std::vector<U64> want = {
        x * x,
        high,
        x / 1000003,
        x % (i + 3),
        static_cast<U64>(static_cast<std::int64_t>(x) >> 7),
        static_cast<U64>(std::popcount(x) + std::countl_zero(x)) + (x << (i % 64))};
    EXPECT_EQ(std::vector<U64>(got.begin() + static_cast<std::ptrdiff_t>(6 * i),
                               got.begin() + static_cast<std::ptrdiff_t>(6 * i + 6)),
              want)
        << "x = " << x;
  }
}

TEST_F(Ordinary, IntegerDivision) {
  const auto a = integers(100, -100000, 100000);
  auto b = integers(100, -300, 300);
  std::ranges::replace(b, 0, 7);
  const BufferId out = gpu_.output<int>("out", 400);
  launch("integer_division", {1, 1, 1}, {128, 1, 1},
         {gpu_.input("a", a), gpu_.input("b", b), out, n(100)});
  const auto got = gpu_.read<int>(out, 400);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(got[4 * i], a[i] / b[i]);
    EXPECT_EQ(got[4 * i + 1], a[i] % b[i]);
    EXPECT_EQ(static_cast<U32>(got[4 * i + 2]), static_cast<U32>(a[i]) / static_cast<U32>(b[i]));
    EXPECT_EQ(got[4 * i + 3], static_cast<short>(a[i]) * static_cast<signed char>(b[i]));
  }
}

TEST_F(Ordinary, DoublesAreExact) {
  const auto x = generate<double>(100, [&](std::size_t i) {
    return 0.01 + 1000 * random_.uniform() / static_cast<double>(i + 1);
  });
  const BufferId out = gpu_.output<double>("out", 400);
  launch("doubles", {1, 1, 1}, {128, 1, 1}, {gpu_.input("x", x), out, n(100)});
  const auto got = gpu_.read<double>(out, 400);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(got[4 * i], std::sqrt(x[i]) / (x[i] + 1));
    EXPECT_EQ(got[4 * i + 1], std::fma(x[i], x[i], -1.0));
    EXPECT_EQ(got[4 * i + 2], std::floor(x[i]) + static_cast<int>(x[i]));
    EXPECT_EQ(got[4 * i + 3], x[i] > 3 ? x[i] : 1 / x[i]);
  }
}

TEST_F(Ordinary, SpecialFunctionsAreWithinTheirDocumentedError) {
  auto x = floats(200, 0.05, 12);
  x[0] = 20000.0F;  // the slow path of sin and cos
  const BufferId out = gpu_.output<float>("out", 2000);
  launch("special_functions", {1, 1, 1}, {256, 1, 1}, {gpu_.input("x", x), out, n(200)});
  const auto got = gpu_.read<float>(out, 2000);
  for (std::size_t i = 0; i < 200; ++i) {
    const double v = static_cast<double>(x[i]);
    const double want[10] = {std::exp(v),      std::log(v),
                             std::sin(v),      std::cos(v),
                             std::tanh(v),     std::pow(v, static_cast<double>(1.7F)),
                             1 / std::sqrt(v), v / static_cast<double>(3.7F),
                             std::erf(v),      std::atan2(v, 2.0)};
    for (std::size_t k = 0; k < 10; ++k) {
      const double value = static_cast<double>(got[10 * i + k]);
      if (std::isinf(value)) continue;  // exp of the large argument
      EXPECT_NEAR(value, want[k], 6e-7 * std::abs(want[k]) + 1e-7)
          << "function " << k << " of " << v;
    }
  }
}

TEST_F(Ordinary, FastFunctions) {
  const auto x = floats(100, 0.1, 6);
  const BufferId out = gpu_.output<float>("out", 500);
  launch("fast_functions", {1, 1, 1}, {128, 1, 1}, {gpu_.input("x", x), out, n(100)});
  const auto got = gpu_.read<float>(out, 500);
  for (std::size_t i = 0; i < 100; ++i) {
    const double v = static_cast<double>(x[i]);
    const double want[5] = {std::exp(v), std::log(v), std::sin(v), v / 3, 1 / v};
    for (std::size_t k = 0; k < 5; ++k)
      EXPECT_NEAR(static_cast<double>(got[5 * i + k]), want[k], 1e-6 * std::abs(want[k]) + 4e-7);
    EXPECT_EQ(got[5 * i + 4], 1.0F / x[i]);
  }
}

TEST_F(Ordinary, DirectedRounding) {
  const auto x = floats(64, -4, 4);
  const BufferId out = gpu_.output<float>("out", 512);
  launch("rounding_modes", {1, 1, 1}, {64, 1, 1}, {gpu_.input("x", x), out, n(64)});
  const auto got = gpu_.read<float>(out, 512);
  for (std::size_t i = 0; i < 64; ++i) {
    const double v = static_cast<double>(x[i]);
    const double sum = v + static_cast<double>(1e-3F);
    EXPECT_LE(std::abs(static_cast<double>(got[8 * i])), std::abs(sum));
    EXPECT_NEAR(static_cast<double>(got[8 * i]), sum, 5e-7);
    EXPECT_GE(static_cast<double>(got[8 * i + 1]), v * static_cast<double>(1.1F));
    EXPECT_LE(static_cast<double>(got[8 * i + 2]), v / 3.0);
    EXPECT_EQ(got[8 * i + 3], std::nearbyint(x[i]));
    EXPECT_EQ(got[8 * i + 4], std::floor(x[i]));
    EXPECT_EQ(got[8 * i + 5], std::trunc(-x[i]));
    EXPECT_EQ(got[8 * i + 6], static_cast<float>((16777217 + static_cast<int>(i)) & ~1));
    EXPECT_EQ(got[8 * i + 7], std::clamp(x[i], 0.0F, 1.0F));
  }
}

TEST_F(Ordinary, ConversionsSaturate) {
  auto x = floats(64, -120, 120);
  x[0] = 1e20F;
  x[1] = -1e20F;
  x[2] = 2.5F;
  x[3] = NAN;
  const BufferId out = gpu_.output<int>("out", 384);
  launch("conversions", {1, 1, 1}, {64, 1, 1}, {gpu_.input("x", x), out, n(64)});
  const auto got = gpu_.read<int>(out, 384);
  EXPECT_EQ(got[0], INT32_MAX);
  EXPECT_EQ(got[6], INT32_MIN);
  EXPECT_EQ(got[8], 0);
  EXPECT_EQ(got[12], 2);
  EXPECT_EQ(got[18], 0);
  for (std::size_t i = 4; i < 64; ++i) {
    EXPECT_EQ(got[6 * i], static_cast<int>(std::nearbyint(x[i])));
    EXPECT_EQ(got[6 * i + 1], static_cast<int>(std::floor(x[i])));
    EXPECT_EQ(got[6 * i + 2], x[i] < 0 ? 0 : static_cast<int>(x[i]));
    EXPECT_EQ(got[6 * i + 3], static_cast<signed char>(x[i]));
    EXPECT_EQ(got[6 * i + 5], static_cast<int>(static_cast<long long>(x[i] * 1e6F)));
  }
}

}  // namespace
}  // namespace evo::test
