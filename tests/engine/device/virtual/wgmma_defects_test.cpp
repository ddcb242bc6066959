#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test::wgmma_defects {
namespace {

struct Defect {
  const char* entry;
  const char* found_as;  ///< expected beginning of the report
  const char* mentions;  ///< text that the report must contain
  std::uint32_t threads = 128;
};

// The kernels of wgmma_defects_waits.cu and wgmma_defects_fences.cu, with the expected reports.
constexpr Defect kDefects[] = {
    {"reads_accumulator_early", "wgmma race", "reads an accumulator"},
    {"waits_for_the_group_before", "wgmma race", "reads an accumulator"},
    {"overwrites_fragment_early", "wgmma race", "a fragment of A"},
    {"overwrites_tile_early", "wgmma race", "that reads it (no wait_group"},
    {"overwrites_tile_of_the_second", "wgmma race", "that reads it (no wait_group"},
    {"copies_over_tile_early", "wgmma race", "cp.async of byte 0 of shared", 160},
    {"missing_proxy_fence", "missing proxy fence", "no fence.proxy.async between"},
    {"proxy_fence_too_early", "missing proxy fence", "no fence.proxy.async between"},
    {"readers_fence_before_the_barrier", "missing proxy fence", "of warp 4 wrote", 160},
    {"proxy_fence_skipped_by_a_warp", "missing proxy fence", "of warp 2 wrote"},
    {"missing_proxy_fence_after_copy", "missing proxy fence", "(cp.async.cg.shared.global)"},
    {"multiplies_before_the_barrier", "wgmma race", "tiles"},
    {"missing_first_fence", "missing wgmma.fence", "no wgmma.fence came after"},
    {"missing_fence_after_scaling", "missing wgmma.fence", "no wgmma.fence came after"},
    {"fragment_written_after_fence", "missing wgmma.fence", "no wgmma.fence came after"},
    {"product_left_pending", "exit with pending work", "was never waited for"},
    {"product_never_committed", "exit with pending work", "was never waited for"},
    {"warps_part_company", "divergent .sync instruction", "executes another wgmma"},
    {"descriptors_differ", "divergent .sync instruction", "other descriptors"},
    {"warp_comes_too_late", "deadlock", "another warp of its warpgroup executed 0"},
    {"warpgroup_is_not_whole", "divergent .sync instruction", "no whole warpgroup", 160},
    {"tile_not_filled", "uninitialised data", "reach global memory"},
    {"descriptor_leads_outside", "out-of-bounds access", "of B at shared address"},
    {"registers_oversubscribed", "deadlock", "registers a thread", 512},
};

constexpr int kValues = 128;

const std::string& compiled(bool bug) {
  static const std::string source = kernel_source("wgmma_defects.cuh") +
                                    kernel_source("wgmma_defects_waits.cu") +
                                    kernel_source("wgmma_defects_fences.cu");
  static const std::string clean = compile_to_ptx(source, "compute_90a");
  static const std::string broken = compile_to_ptx(source, "compute_90a", {"-DBUG"});
  return bug ? broken : clean;
}

std::optional<Fault> run(const Defect& defect, bool bug, std::uint64_t seed) {
  VirtualOptions options{.threads = 1, .seed = seed};
  options.stall_budget = 2'000'000;
  TestGpu gpu("virtual:h200", options);
  std::vector<float> values(kValues);
  for (std::size_t i = 0; i < kValues; ++i) values[i] = static_cast<float>(i % 7) - 2.0F;
  const BufferId in = gpu.input("in", values);
  const BufferId out = gpu.inout("out", std::vector<float>(defect.threads, -1.0F));
  return gpu.run(compiled(bug), defect.entry, {.grid = {1, 1, 1}, .block = {defect.threads, 1, 1}},
                 {in, out, ScalarArgument::of(kValues)});
}

class WgmmaDefects : public testing::TestWithParam<Defect> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
};

TEST_P(WgmmaDefects, IsFoundWhateverTheSchedule) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto fault = run(GetParam(), true, seed);
    ASSERT_TRUE(fault) << "seed " << seed;
    EXPECT_TRUE(fault->reason.starts_with(GetParam().found_as)) << fault->reason;
    EXPECT_NE(fault->detail.find(GetParam().mentions), std::string::npos) << fault->detail;
    EXPECT_NE(fault->detail.find("kernel.cu:"), std::string::npos)
        << "no source line: " << fault->detail;
    EXPECT_FALSE(fault->device_lost);
  }
}

TEST_P(WgmmaDefects, CleanTwinHasNoReport) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U})
    EXPECT_EQ(text_of(run(GetParam(), false, seed)), "");
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaDefects, testing::ValuesIn(kDefects),
                         [](const auto& test) { return std::string(test.param.entry); });

}  // namespace
}  // namespace evo::test::wgmma_defects
