#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <string>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Tests grid.sync() of cooperative groups, compiled by NVRTC with the CUDA Toolkit's header.

namespace evo::test {
namespace {

class Cooperative : public testing::Test {
 protected:
  void SetUp() override {
    const std::string include = EVO_CUDA_INCLUDE_DIR;
    if (!has_nvrtc() || !std::filesystem::exists(include + "/cooperative_groups.h"))
      GTEST_SKIP() << "NVRTC or the header cooperative_groups.h is missing";
  }

  static std::string compiled(const std::string& arch) {
    const std::string include = EVO_CUDA_INCLUDE_DIR;
    return compile_to_ptx(kernel_source("cooperative.cu"), arch,
                          {"-I" + include, "-I" + include + "/cccl"});
  }
  static const std::string& ptx() {
    static const std::string text = compiled("compute_89");
    return text;
  }

  static std::vector<int> values(std::size_t count) {
    std::vector<int> x(count);
    std::iota(x.begin(), x.end(), -7);
    return x;
  }

  static std::vector<int> neighbours(std::vector<int> x, int steps) {
    for (int step = 0; step < steps; ++step) {
      std::vector<int> next(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) next[i] = x[i] + x[(i + 1) % x.size()];
      x = next;
    }
    return x;
  }
};

TEST_F(Cooperative, GridSyncOrdersTheStepsOfAllCtas) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    TestGpu gpu("virtual:l4", {.threads = 2, .seed = seed});
    constexpr int kCount = 40 * 64 - 5;
    const auto x = values(kCount);
    const BufferId a = gpu.inout("a", x);
    const BufferId b = gpu.output<int>("b", kCount);
    ASSERT_EQ(text_of(gpu.run(ptx(), "neighbours", {{40, 1, 1}, {64, 1, 1}, 0},
                              {a, b, ScalarArgument::of(kCount), ScalarArgument::of(6)})),
              "");
    EXPECT_EQ(gpu.read<int>(a, kCount), neighbours(x, 6));
  }
}

TEST_F(Cooperative, TheGridMayMeetBeforeItWaitsForTheKernelBeforeIt) {
  TestGpu gpu("virtual:h200");
  const auto x = values(256);
  const BufferId out = gpu.output<int>("out", 256);
  ASSERT_EQ(text_of(gpu.run(compiled("compute_90"), "meets_before_it_waits",
                            {{4, 1, 1}, {64, 1, 1}, 0}, {gpu.input("x", x), out})),
            "");
  EXPECT_EQ(gpu.read<int>(out, 256), std::vector<int>(x.rbegin(), x.rend()));
}

TEST_F(Cooperative, ALaunchThatFillsTheDevice) {
  TestGpu gpu;
  const auto x = values(5000);
  const BufferId in = gpu.input("x", x);
  const BufferId out = gpu.output<int>("out", 1);
  const BufferId partial = gpu.output<int>("partial", 58 * 2);
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(text_of(gpu.run(ptx(), "sum_of_all", {{58 * 2, 1, 1}, {32, 4, 1}, 0},
                              {in, partial, out, ScalarArgument::of(5000)})),
              "");
    EXPECT_EQ(gpu.read<int>(out, 1)[0], std::accumulate(x.begin(), x.end(), 0));
  }
}

TEST_F(Cooperative, OneHostThreadIsEnough) {
  TestGpu gpu("virtual:l4", {.threads = 1});
  const auto x = values(300);
  const BufferId a = gpu.inout("a", x);
  const BufferId b = gpu.output<int>("b", 300);
  ASSERT_EQ(text_of(gpu.run(ptx(), "neighbours", {{5, 2, 1}, {32, 1, 1}, 0},
                            {a, b, ScalarArgument::of(300), ScalarArgument::of(2)})),
            "");
  EXPECT_EQ(gpu.read<int>(a, 300), neighbours(x, 2));
}

TEST_F(Cooperative, MoreCtasThanTheDeviceHoldsAreRefused) {
  TestGpu gpu;
  const BufferId a = gpu.inout("a", values(32));
  const auto fault = gpu.run(ptx(), "neighbours", {{2000, 1, 1}, {1024, 1, 1}, 0},
                             {a, a, ScalarArgument::of(32), ScalarArgument::of(1)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->reason,
            "launch refused: cooperative launch too large: 2000 CTAs that wait for each other, the "
            "device has room for 58 at once");
  EXPECT_EQ(text_of(gpu.run(ptx(), "plain", {{2000, 1, 1}, {1024, 1, 1}, 0},
                            {gpu.output<int>("out", 2000)})),
            "");
}

TEST_F(Cooperative, ACtaThatNeverArrivesIsALivelock) {
  TestGpu gpu;
  const auto fault =
      gpu.run(ptx(), "one_leaves", {{4, 1, 1}, {32, 1, 1}, 0}, {gpu.output<int>("out", 4)});
  ASSERT_TRUE(fault.has_value());
  EXPECT_TRUE(fault->reason.starts_with("livelock:")) << fault->reason;
}

TEST_F(Cooperative, ItsTimeIsPredictedFromTheWholeGrid) {
  TestGpu gpu;
  auto loaded = gpu.device().load({.ptx = ptx(), .cubin = {}, .entries = {"neighbours"}});
  const KernelId kernel = std::get<KernelId>(loaded);
  const BufferId a = gpu.inout("a", values(640));
  const BufferId b = gpu.output<int>("b", 640);
  const std::vector<KernelArgument> arguments = {a, b, ScalarArgument::of(640),
                                                 ScalarArgument::of(2)};
  const auto predicted =
      gpu.device().predicting()->predict_us(kernel, {{20, 1, 1}, {32, 1, 1}, 0}, arguments);
  ASSERT_TRUE(std::holds_alternative<double>(predicted));
  EXPECT_GT(std::get<double>(predicted), 0);
  EXPECT_EQ(gpu.read<int>(a, 640), values(640));
}

}  // namespace
}  // namespace evo::test
