#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

struct BulkDefect {
  const char* entry;
  const char* found_as;  ///< expected beginning of the report
  const char* mentions;  ///< text that the report must contain
  std::size_t values = 128;
  std::uint32_t ctas = 1;
};

// Every kernel of kernels/bulk_defects.cu and bulk_wgmma.cu, with the expected report.
constexpr BulkDefect kBulkDefects[] = {
    {"reads_before_the_phase", "cp.async race", "::tile'"},
    {"only_one_warp_waits", "cp.async race", "::tile'"},
    {"barrier_before_the_wait", "cp.async race", "read of byte"},
    {"waits_for_the_other_barrier", "cp.async race", "::tile'"},
    {"one_lane_of_a_warp_waits", "cp.async race", "another lane of the warp waited"},
    {"one_lane_stores_for_its_warp", "cp.async race", "no .sync instruction between"},
    {"loads_over_a_tile_in_use", "cp.async race", "::tile'"},
    {"overwrites_the_source", "cp.async race", "that reads it (no wait_group.read"},
    {"waits_for_the_group_before", "cp.async race", "that reads it (no wait_group.read"},
    {"other_threads_overwrite_the_source", "cp.async race", "or no barrier after it"},
    {"proxy_fence_skipped_by_a_warp", "missing proxy fence", "of warp 3 wrote"},
    {"no_proxy_fence_at_all", "missing proxy fence", "no fence.proxy.async between"},
    {"expects_too_many_bytes", "deadlock", "waits for 64 bytes that no copy brings"},
    {"expects_too_few_bytes", "invalid barrier use", "512 bytes, but the mbarrier expects 448"},
    {"expects_beyond_the_counter", "invalid barrier use", "it expects 1048576 bytes in one phase"},
    {"store_left_pending", "exit with pending work", "was never waited for (wait_group.read)"},
    {"store_never_committed", "exit with pending work", "was never waited for (wait_group.read)"},
    {"load_left_pending", "exit with pending work", "was never waited for (mbarrier at"},
    {"size_not_a_multiple", "misaligned access", "bulk copy of 504 bytes"},
    {"misaligned_tile", "misaligned access", "is not a multiple of 16"},
    {"reads_past_the_end", "out-of-bounds access", "past the end of 'in'"},
    {"stores_unwritten_bytes", "uninitialised data", "byte 308 of shared"},
    {"multiplies_before_the_phase", "cp.async race", "::tiles'", 1024},
    {"loads_over_tiles_in_flight", "cp.async race", "after the wgmma of warp", 1024},
    {"signals_before_the_store_is_written", "race between CTAs", "'out'", 128, 2},
    {"stores_where_another_cta_does", "race between CTAs", "write of byte", 128, 2},
    {"uses_no_barrier", "invalid barrier use", "no initialised mbarrier"},
    {"an_arrival_is_missing", "deadlock", "::ready' (shared byte 512), whose phase 0 has 1 of 2"},
    {"waits_for_the_wrong_parity", "deadlock", "::empty'"},
};

const std::string& compiled_bulk(bool bug) {
  static const std::string source =
      "namespace wgmma {\n" + kernel_source("wgmma_defects.cuh") + "}\n" +
      kernel_source("bulk.cuh") + kernel_source("bulk_defects.cu") + kernel_source("bulk_wgmma.cu");
  static const std::string clean = compile_to_ptx(source, "compute_90a");
  static const std::string broken = compile_to_ptx(source, "compute_90a", {"-DBUG"});
  return bug ? broken : clean;
}

std::optional<Fault> run_bulk(const BulkDefect& defect, bool bug, std::uint64_t seed) {
  constexpr std::size_t kBulkValues = 128;
  const VirtualOptions options{.threads = 1, .seed = seed};
  TestGpu gpu("virtual:h200", options);
  const BufferId in = gpu.input("in", std::vector<float>(defect.values, 2.5F));
  const BufferId out = gpu.inout("out", std::vector<float>(2 * kBulkValues, -1.0F));
  return gpu.run(compiled_bulk(bug), defect.entry,
                 {.grid = {defect.ctas, 1, 1}, .block = {kBulkValues, 1, 1}}, {out, in});
}

class BulkDefects : public testing::TestWithParam<BulkDefect> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
};

TEST_P(BulkDefects, IsFoundWhateverTheSchedule) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto fault = run_bulk(GetParam(), true, seed);
    ASSERT_TRUE(fault) << "seed " << seed;
    EXPECT_TRUE(fault->reason.starts_with(GetParam().found_as)) << fault->reason;
    EXPECT_NE(fault->detail.find(GetParam().mentions), std::string::npos) << fault->detail;
    EXPECT_NE(fault->detail.find("kernel.cu:"), std::string::npos)
        << "no source line: " << fault->detail;
  }
}

TEST_P(BulkDefects, CleanTwinHasNoReport) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U})
    EXPECT_EQ(text_of(run_bulk(GetParam(), false, seed)), "");
}

INSTANTIATE_TEST_SUITE_P(All, BulkDefects, testing::ValuesIn(kBulkDefects),
                         [](const auto& test) { return std::string(test.param.entry); });

}  // namespace
}  // namespace evo::test
