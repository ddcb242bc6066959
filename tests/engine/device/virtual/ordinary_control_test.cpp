#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "tests/engine/device/virtual/ordinary_fixture.hpp"

// Compares results of kernels in kernels/ordinary.cu with the CPU: kernels with control flow,
// exchange between threads, and waiting.

namespace evo::test {
namespace {

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

TEST_F(Ordinary, WhatWasNeverLoadedMayDecideWhatIsNeverStored) {
  const auto x = generate<float>(75, [](std::size_t i) { return static_cast<float>(i); });
  const BufferId out = gpu_.output<int>("out", 75);
  launch("halvings_of_two", {2, 1, 1}, {32, 1, 1}, {gpu_.input("x", x), out, n(75)});
  const auto want = generate<int>(75, [](std::size_t i) {
    int steps = 0;
    for (auto v = static_cast<float>(i); v > 1; v *= 0.5F) ++steps;
    return steps;
  });
  EXPECT_EQ(gpu_.read<int>(out, 75), want);
}

/// On the virtual GPU, registers that were never set hold another value in each of four successive
/// launches, so a result that depends on such a register differs between launches.
TEST(UnsetRegister, WhatItDecidesDiffersBetweenLaunches) {
  for (const char* comparison : {"eq.s32", "gt.s32", "lt.s32", "eq.f32", "gt.f32", "lt.f32"}) {
    TestGpu gpu;
    const std::string zero = std::string(comparison).ends_with("f32") ? "0f00000000" : "0";
    const std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, 1;
  setp.)" + std::string(comparison) +
                            " %p1, %r1, " + zero + R"(;
  @%p1 bra done;
  mov.u32 %r2, 2;
done:
  st.global.u32 [%rd1], %r2;
  ret;
})";
    const BufferId out = gpu.output<int>("out", 1);
    std::set<int> found;
    for (int launch = 0; launch < 4; ++launch) {
      ASSERT_EQ(text_of(gpu.run(ptx, "k", {{1, 1, 1}, {1, 1, 1}, 0}, {out})), "") << comparison;
      found.insert(gpu.read<int>(out, 1)[0]);
    }
    EXPECT_EQ(found, (std::set<int>{1, 2})) << comparison;
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
  EXPECT_LE(different, 4);  // compilers may fuse |z|² differently
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
