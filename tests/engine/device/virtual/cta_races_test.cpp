// Tests kernels with races between CTAs in global memory, and versions of these kernels without
// races.
#include <gtest/gtest.h>

#include "engine/device/virtual/checks/global_races.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"
#include "tests/engine/device/virtual/twin_kernels.hpp"

namespace evo::test {
namespace {

const std::string& ptx_of_races(bool bug) {
  static const std::string source = kernel_source("cta_races.cu");
  static const std::string clean = compile_to_ptx(source, "compute_80");
  static const std::string broken = compile_to_ptx(source, "compute_80", {"-DBUG"});
  return bug ? broken : clean;
}

std::optional<Fault> run_race(const char* entry, bool bug, std::uint64_t seed, int threads,
                              bool checks = true) {
  VirtualOptions options{.threads = threads, .seed = seed};
  options.stall_budget = 2'000'000;
  TestGpu gpu("virtual:a100", options);
  gpu.device().interpreting()->set_checks(checks);
  std::vector<float> values(256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 2.0F;
  const BufferId in = gpu.input("in", values);
  const BufferId out = gpu.inout("out", std::vector<float>(256, 0.0F));
  return gpu.run(ptx_of_races(bug), entry, {.grid = {4, 1, 1}, .block = {64, 1, 1}}, {in, out});
}

class CtaRaces : public testing::TestWithParam<TwinKernel> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
};

TEST_P(CtaRaces, AreFoundWhateverTheSchedule) {
  for (const int threads : {1, 2, 4}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto fault = run_race(GetParam().entry, true, seed, threads);
      ASSERT_TRUE(fault) << "seed " << seed << ", " << threads << " threads";
      EXPECT_TRUE(fault->reason.starts_with("race between CTAs")) << fault->reason;
      EXPECT_NE(fault->reason.find("is not ordered after the access by CTA ("), std::string::npos)
          << fault->reason;
      EXPECT_NE(fault->detail.find("kernel.cu:"), std::string::npos) << fault->detail;
      EXPECT_FALSE(fault->device_lost);
    }
  }
}

TEST_P(CtaRaces, TheOrderedTwinHasNoReport) {
  for (const int threads : {1, 2, 4}) {
    for (const std::uint64_t seed : {1U, 2U, 3U})
      EXPECT_EQ(text_of(run_race(GetParam().entry, false, seed, threads)), "");
  }
}

TEST_P(CtaRaces, AreNotLookedForWithoutChecks) {
  EXPECT_EQ(text_of(run_race(GetParam().entry, true, 1, 1, false)), "");
}

INSTANTIATE_TEST_SUITE_P(All, CtaRaces, testing::ValuesIn(kernels_of(TwinSet::kCtaRaces)),
                         [](const auto& test) { return std::string(test.param.entry); });

TEST(CtaRacesPlaces, NeighbouringBytesAreNotOnePlace) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  EXPECT_EQ(text_of(run_race("bytes_side_by_side", false, 1, 2)), "");
}

TEST(CtaRacesPlaces, APlainFlagBehindAFenceIsNoRace) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  for (const int threads : {1, 2, 4}) {
    for (const std::uint64_t seed : {1U, 2U, 3U})
      EXPECT_EQ(text_of(run_race("plain_flags_beside_a_counter", false, seed, threads)), "");
  }
}

TEST(CtaRacesPlaces, TheFirstReadOfACompareAndSwapLoopIsAGuess) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  for (const int threads : {1, 4}) {
    EXPECT_EQ(text_of(run_race("guess_and_swap", false, 1, threads)), "");
    EXPECT_NE(text_of(run_race("sum_read_by_the_last", true, 1, threads)), "");
  }
}

TEST(CtaRacesPlaces, WhatWasSeenChangedMayBeRead) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  for (const int threads : {1, 4}) {
    EXPECT_EQ(text_of(run_race("polled_then_read", false, 1, threads)), "");
    EXPECT_EQ(text_of(run_race("read_before_waiting", false, 1, threads)), "");
  }
  EXPECT_NE(text_of(run_race("read_before_waiting", true, 1, 1)), "");
}

TEST(CtaRacesPlaces, AReadBeforeOthersAddIsReportedToo) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  EXPECT_NE(text_of(run_race("reads_first", true, 1, 1)), "");
  EXPECT_EQ(text_of(run_race("reads_first", false, 1, 1)), "");
}

TEST(CtaRacesPlaces, BuffersBeyondTheMostShadowAreNotWatched) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  constexpr std::size_t kWords = ptx::GlobalRaces::kMostShadow / sizeof(ptx::GlobalRaces::Word);
  for (const std::size_t bytes : {std::size_t{4096}, kWords}) {
    TestGpu gpu("virtual:a100");
    const BufferId in = gpu.input("in", std::vector<float>(256, 1.0F));
    const BufferId out = gpu.inout("out", std::vector<std::uint8_t>(bytes));
    const auto fault = gpu.run(ptx_of_races(true), "bytes_side_by_side",
                               {.grid = {4, 1, 1}, .block = {64, 1, 1}}, {in, out});
    EXPECT_EQ(fault.has_value(), bytes != kWords);
  }
}

TEST(CtaRacesPlaces, EveryLaunchBeginsAnew) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  TestGpu gpu("virtual:a100");
  const BufferId in = gpu.input("in", std::vector<float>(256, 1.0F));
  const BufferId out = gpu.inout("out", std::vector<float>(256, 0.0F));
  for (const char* entry : {"written_by_all", "in_place", "written_by_all"}) {
    EXPECT_EQ(text_of(gpu.run(ptx_of_races(false), entry, {.grid = {4, 1, 1}, .block = {64, 1, 1}},
                              {in, out})),
              "");
  }
}

}  // namespace
}  // namespace evo::test
