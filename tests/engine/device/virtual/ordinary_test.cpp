#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/core/random.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Kernels of kernels/ordinary.cu, compiled by NVRTC, against the CPU.

namespace evo::test {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

const std::string& ptx() {
  static const std::string text = compile_to_ptx(kernel_source("ordinary.cu"), "compute_89");
  return text;
}

class Ordinary : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }

  std::vector<int> integers(std::size_t count, int low, int high) {
    std::vector<int> values(count);
    for (int& v : values)
      v = low + static_cast<int>(random_.below(static_cast<U64>(high - low + 1)));
    return values;
  }
  std::vector<float> floats(std::size_t count, double low, double high) {
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(low + (high - low) * random_.uniform());
    return values;
  }
  void launch(const char* entry, std::array<U32, 3> grid, std::array<U32, 3> block,
              const std::vector<KernelArgument>& arguments, U32 shared = 0) {
    ASSERT_EQ(text_of(gpu_.run(ptx(), entry, {grid, block, shared}, arguments)), "");
  }
  static KernelArgument n(std::size_t value) { return ScalarArgument::of(static_cast<int>(value)); }

  TestGpu gpu_;
  Random random_{7};
};

template <typename T>
std::vector<T> generate(std::size_t count, const std::function<T(std::size_t)>& value) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

void expect_close(const std::vector<float>& got, const std::vector<double>& want, double relative,
                  double absolute = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], relative * std::abs(want[i]) + absolute)
        << "element " << i;
  }
}

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
      if (std::isinf(value)) continue;  // exp and pow of the large one
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

TEST_F(Ordinary, VotesAndShuffles) {
  const auto x = integers(64, -99, 99);
  const BufferId out = gpu_.output<U32>("out", 384);
  launch("warp_votes", {1, 1, 1}, {64, 1, 1}, {gpu_.input("x", x), out, n(64)});
  const auto got = gpu_.read<U32>(out, 384);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t base = i / 32 * 32;
    U32 positive = 0;
    U32 same = 0;
    bool above = false;
    for (std::size_t l = 0; l < 32; ++l) {
      positive |= x[base + l] > 0 ? 1U << l : 0U;
      same |= (x[base + l] & 3) == (x[i] & 3) ? 1U << l : 0U;
      above |= x[base + l] > 90;
    }
    const std::size_t lane = i % 32;
    EXPECT_EQ(got[6 * i], positive);
    EXPECT_EQ(got[6 * i + 1], 1U);
    EXPECT_EQ(got[6 * i + 2], above ? 1U : 0U);
    EXPECT_EQ(got[6 * i + 3], same);
    EXPECT_EQ(static_cast<int>(got[6 * i + 4]), x[base + lane / 8 * 8 + 5]);
    EXPECT_EQ(static_cast<int>(got[6 * i + 5]), x[base + (lane ^ 9U)]);
  }
}

TEST_F(Ordinary, DivergentLoops) {
  const auto x = generate<U32>(300, [](std::size_t i) { return static_cast<U32>(i + 1); });
  const BufferId out = gpu_.output<U32>("out", 300);
  launch("collatz", {3, 1, 1}, {128, 1, 1}, {gpu_.input("x", x), out, n(300)});
  const auto want = generate<U32>(300, [](std::size_t i) {
    U32 steps = 0;
    for (U64 v = i + 1; v > 1; ++steps) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    return steps;
  });
  EXPECT_EQ(gpu_.read<U32>(out, 300), want);
}

TEST_F(Ordinary, SwitchWithBranchTable) {
  const auto x = integers(256, -1000, 1000);
  const auto before = integers(256, 0, 9);
  const BufferId out = gpu_.inout("out", before);
  launch("switch_cases", {2, 1, 1}, {128, 1, 1}, {gpu_.input("x", x), out, n(256)});
  const auto want = generate<int>(256, [&](std::size_t i) {
    const int v = x[i];
    switch (v & 7) {
      case 0:
        return v * 3;
      case 1:
        return v - 100;
      case 2:
        return v ^ 0x55;
      case 3:
        return v / 5;
      case 4:
        return -v;
      case 5:
        return v + before[i];
      default:
        return 7;
    }
  });
  EXPECT_EQ(gpu_.read<int>(out, 256), want);
}

TEST_F(Ordinary, SortsInLocalAndSharedMemory) {
  const auto x = integers(256, -1000, 1000);
  const BufferId out = gpu_.output<int>("out", 256);
  launch("sort_local", {1, 1, 1}, {32, 1, 1}, {gpu_.input("x", x), out, n(256)});
  auto want = x;
  for (std::size_t i = 0; i < 256; i += 8)
    std::sort(want.begin() + static_cast<std::ptrdiff_t>(i),
              want.begin() + static_cast<std::ptrdiff_t>(i) + 8);
  EXPECT_EQ(gpu_.read<int>(out, 256), want);
  const BufferId data = gpu_.inout("data", x);
  launch("bitonic_sort", {1, 1, 1}, {256, 1, 1}, {data, n(256)});
  std::ranges::sort(want);
  EXPECT_EQ(gpu_.read<int>(data, 256), want);
}

TEST_F(Ordinary, CallsAndStructParameters) {
  const auto x = integers(100, 0, 99999);
  const BufferId out = gpu_.output<int>("out", 100);
  launch("calls_function", {1, 1, 1}, {128, 1, 1}, {gpu_.input("x", x), out, n(100)});
  const auto digits = [](int v) {
    int sum = 0;
    for (; v > 0; v /= 10) sum += v % 10;
    return sum;
  };
  EXPECT_EQ(gpu_.read<int>(out, 100),
            generate<int>(100, [&](std::size_t i) { return digits(x[i]) + digits(x[i] / 3); }));

  const auto f = floats(64, -1, 1);
  const BufferId scaled = gpu_.output<float>("out", 64);
  struct Pair {
    float scale;
    int shift;
  };
  const KernelArgument pair = ScalarArgument::of(std::bit_cast<U64>(Pair{2.5F, 3}));
  launch("struct_parameter", {1, 1, 1}, {64, 1, 1}, {gpu_.input("x", f), scaled, pair});
  EXPECT_EQ(gpu_.read<float>(scaled, 64),
            generate<float>(64, [&](std::size_t i) { return f[(i + 3) % 64] * 2.5F; }));
}

TEST_F(Ordinary, Atomics) {
  const BufferId out = gpu_.inout("out", std::vector<int>{0, 0});
  const BufferId words = gpu_.inout("words", std::vector<U32>{0xffffffffU, 0, 0, 0, 1});
  const BufferId longs = gpu_.inout("longs", std::vector<U64>{1});
  const BufferId sums = gpu_.inout("floats", std::vector<float>{0});
  launch("atomics", {4, 1, 1}, {64, 1, 1}, {out, words, longs, sums});
  EXPECT_EQ(gpu_.read<int>(out, 2), (std::vector<int>{63, -63}));
  EXPECT_EQ(gpu_.read<U32>(words, 5), (std::vector<U32>{0, 0xffffffffU, 0, 256 % 11, 1 + 2 * 256}));
  EXPECT_EQ(gpu_.read<U64>(longs, 1)[0], 1 + (U64{4 * 63 * 32} << 20));
  EXPECT_EQ(gpu_.read<float>(sums, 1)[0], 128.0F);
}

TEST_F(Ordinary, LanesThatWaitForEachOtherMakeProgress) {
  const BufferId lock = gpu_.inout("lock", std::vector<int>{0});
  const BufferId total = gpu_.inout("total", std::vector<int>{0});
  launch("spin_lock", {2, 1, 1}, {64, 1, 1}, {lock, total});
  EXPECT_EQ(gpu_.read<int>(total, 1)[0], 128);
}

TEST_F(Ordinary, PersistentCtasWithAQueue) {
  const BufferId queue = gpu_.inout("queue", std::vector<U32>{0});
  const BufferId out = gpu_.output<int>("out", 2048);
  launch("work_queue", {5, 1, 1}, {64, 1, 1}, {queue, out, n(2048)});
  EXPECT_EQ(gpu_.read<int>(out, 2048), generate<int>(2048, [](std::size_t i) {
              return static_cast<int>(i / 64 * 1000 + i % 64);
            }));
}

TEST_F(Ordinary, CtasThatWaitForEachOtherMakeProgress) {
  const BufferId arrived = gpu_.inout("arrived", std::vector<U32>{0});
  const BufferId out = gpu_.output<int>("out", 2 * 24 * 32);
  launch("grid_barrier", {24, 1, 1}, {32, 1, 1}, {arrived, out, n(24 * 32)});
  const auto got = gpu_.read<int>(out, 2 * 24 * 32);
  for (std::size_t i = 0; i < 24 * 32; ++i)
    EXPECT_EQ(got[24 * 32 + i], static_cast<int>((i / 32 + 1) % 24));
}

TEST_F(Ordinary, VectorsAndGenericPointers) {
  const auto in = floats(256, -1, 1);
  const BufferId out = gpu_.output<float>("out", 256);
  launch("vector_copy", {1, 1, 1}, {64, 1, 1}, {gpu_.input("in", in), out, n(64)});
  EXPECT_EQ(gpu_.read<float>(out, 256), generate<float>(256, [&](std::size_t i) {
              return i % 4 == 0 ? in[i] + 1 : i % 4 == 3 ? in[i] * 2 : in[i];
            }));
  const auto x = integers(64, 0, 99);
  const BufferId mixed = gpu_.output<int>("out", 64);
  launch("generic_pointers", {1, 1, 1}, {64, 1, 1}, {gpu_.input("in", x), mixed, n(5)});
  EXPECT_EQ(gpu_.read<int>(mixed, 64), generate<int>(64, [&](std::size_t t) {
              return t % 3 == 0 ? x[t] : t % 3 == 1 ? 2 * x[t] : static_cast<int>((5 + t) % 4 + 1);
            }));
}

TEST_F(Ordinary, BarriersThatReduce) {
  const auto x = integers(96, -50, 50);
  const BufferId out = gpu_.output<int>("out", 288);
  launch("ticket_barrier_sync", {1, 1, 1}, {96, 1, 1}, {gpu_.input("in", x), out, n(96)});
  const auto positive = static_cast<int>(std::ranges::count_if(x, [](int v) { return v > 0; }));
  const auto got = gpu_.read<int>(out, 288);
  for (std::size_t i = 0; i < 96; ++i) {
    EXPECT_EQ(got[3 * i], positive);
    EXPECT_NE(got[3 * i + 1], 0);
    EXPECT_EQ(got[3 * i + 2], 0);
  }
}

TEST_F(Ordinary, MandelbrotAgreesBitForBit) {
  constexpr int kWidth = 60;
  constexpr int kHeight = 40;
  const BufferId out = gpu_.output<std::uint8_t>("out", kWidth * kHeight);
  launch("mandelbrot", {4, 5, 1}, {16, 8, 1}, {out, n(kWidth), n(kHeight)});
  const auto got = gpu_.read<std::uint8_t>(out, kWidth * kHeight);
  int different = 0;
  for (int p = 0; p < kWidth * kHeight; ++p) {
    const float cx =
        std::fma(3.0F * static_cast<float>(p % kWidth) / static_cast<float>(kWidth), 1.0F, -2.0F);
    const float cy = 2.0F * static_cast<float>(p / kWidth) / static_cast<float>(kHeight) - 1.0F;
    float zx = 0;
    float zy = 0;
    int i = 0;
    for (; i < 100 && std::fma(zx, zx, zy * zy) < 4; ++i) {
      const float t = zx * zx - zy * zy + cx;
      zy = 2 * zx * zy + cy;
      zx = t;
    }
    different += i != got[static_cast<std::size_t>(p)] ? 1 : 0;
  }
  EXPECT_LE(different, 4);  // the test |z| < 2 may be contracted either way
}

TEST_F(Ordinary, DynamicSharedMemoryAndSparseRows) {
  const auto in = floats(96, -1, 1);
  const BufferId out = gpu_.output<float>("out", 96);
  launch("dynamic_shared", {1, 1, 1}, {96, 1, 1}, {gpu_.input("in", in), out, n(96)}, 2 * 96 * 4);
  EXPECT_EQ(gpu_.read<float>(out, 96), std::vector<float>(96, 0.0F));
  const std::vector<int> row = {0, 2, 2, 5, 6};
  const std::vector<int> column = {0, 3, 1, 2, 3, 0};
  const std::vector<float> value = {1, 2, 3, 4, 5, 6};
  const std::vector<float> x = {1, 10, 100, 1000};
  const BufferId y = gpu_.output<float>("y", 4);
  launch("sparse_matrix_vector", {1, 1, 1}, {32, 1, 1},
         {gpu_.input("row", row), gpu_.input("column", column), gpu_.input("value", value),
          gpu_.input("x", x), y, n(4)});
  EXPECT_EQ(gpu_.read<float>(y, 4), (std::vector<float>{2001, 0, 5430, 6}));
}

}  // namespace
}  // namespace evo::test
