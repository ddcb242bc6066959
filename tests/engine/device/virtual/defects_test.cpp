#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

struct Defect {
  const char* entry;
  const char* found_as;  ///< expected beginning of the report
  const char* mentions;  ///< text that the report must contain
};

// Every kernel of kernels/defects_data.cu and defects_order.cu, with the expected report.
constexpr Defect kDefects[] = {
    {"missing_sync", "shared-memory race", "no barrier between"},
    {"missing_sync_before_reuse", "shared-memory race", "no barrier between"},
    {"missing_syncwarp", "shared-memory race", "same warp"},
    {"wait_prior_last_tile", "cp.async race", "has not been waited for"},
    {"missing_wait", "cp.async race", "has not been waited for"},
    {"wait_without_barrier", "shared-memory race", "no barrier between"},
    {"double_use_of_stage", "shared-memory race", "cp.async of byte"},
    {"unmasked_tail", "out-of-bounds access", "past the end of 'in'"},
    {"off_by_one", "out-of-bounds access", "0 bytes past the end of 'in' (512 bytes)"},
    {"contiguous_copy_into_padded_rows", "uninitialised data", "reach global memory"},
    {"uninitialised_accumulator", "uninitialised data", "reach global memory"},
    {"uninitialised_maximum", "uninitialised data", "are the target of an atomic operation"},
    {"uninitialised_exchange", "uninitialised data", "decide what is executed"},
    {"exchange_initialises", "uninitialised data", "are the target of an atomic operation"},
    {"uninitialised_branch", "uninitialised data", "decide what is executed"},
    {"uninitialised_local", "uninitialised data", "reach global memory"},
    {"plain_flag", "shared-memory race", "no barrier between"},
    {"barrier_count_too_large", "deadlock", "barrier 1 (96 of 128 threads arrived)"},
    {"barrier_count_mismatch", "invalid barrier use", "does not match the count"},
    {"barrier_count_not_multiple", "invalid barrier use", "not a multiple of 32"},
    {"barrier_in_divergent_branch", "invalid barrier use", "divergent"},
    {"barrier_skipped_by_a_warp", "deadlock", "barrier 2 (96 of 128 threads arrived)"},
    {"crossed_barriers", "deadlock", "waits at barrier"},
    {"endless_spin", "livelock", "nothing changed"},
    {"misaligned_vector", "misaligned access", "not a multiple of 16"},
    {"write_to_input", "write to a read-only buffer", "'in'"},
    {"shared_out_of_bounds", "out-of-bounds access", "the CTA has 512 bytes"},
    {"shuffle_of_absent_lanes", "divergent .sync instruction", "shfl.sync"},
    {"shuffle_from_absent_lanes", "uninitialised data",
     "read lane 16, which does not execute the shuffle, so the result is undefined; every lane"},
    {"counter_without_atomic", "shared-memory race", "count"},
    {"barrier_left_pending", "exit with pending work", "barrier 4"},
    {"copy_left_pending", "exit with pending work", "never waited for"},
    {"reaches_trap", "trap", "thread (127,0,0)"},
    {"mbarrier_without_wait", "shared-memory race", "tile"},
};

constexpr int kCount = 128;

const std::string& compiled(bool bug) {
  static const std::string source = kernel_source("defects.cuh") +
                                    kernel_source("defects_data.cu") +
                                    kernel_source("defects_order.cu");
  static const std::string clean = compile_to_ptx(source, "compute_80");
  static const std::string broken = compile_to_ptx(source, "compute_80", {"-DBUG"});
  return bug ? broken : clean;
}

std::optional<Fault> run(const char* entry, bool bug, std::uint64_t seed) {
  VirtualOptions options{.threads = 1, .seed = seed};
  options.stall_budget = 2'000'000;
  TestGpu gpu("virtual:a100", options);
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<float>(i % 7) - 2.0F;
  const BufferId in = gpu.input("in", values);
  std::vector<float> poison(kCount, -1.0F);
  const BufferId out = gpu.inout("out", poison);
  return gpu.run(compiled(bug), entry, {.grid = {1, 1, 1}, .block = {kCount, 1, 1}},
                 {in, out, ScalarArgument::of(kCount)});
}

class Defects : public testing::TestWithParam<Defect> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
};

TEST_P(Defects, IsFoundWhateverTheSchedule) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto fault = run(GetParam().entry, true, seed);
    ASSERT_TRUE(fault) << "seed " << seed;
    EXPECT_TRUE(fault->reason.starts_with(GetParam().found_as)) << fault->reason;
    EXPECT_NE(fault->detail.find(GetParam().mentions), std::string::npos) << fault->detail;
    EXPECT_NE(fault->detail.find("kernel.cu:"), std::string::npos)
        << "no source line: " << fault->detail;
    EXPECT_FALSE(fault->device_lost);
  }
}

TEST_P(Defects, CleanTwinHasNoReport) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U})
    EXPECT_EQ(text_of(run(GetParam().entry, false, seed)), "");
}

INSTANTIATE_TEST_SUITE_P(All, Defects, testing::ValuesIn(kDefects),
                         [](const auto& test) { return std::string(test.param.entry); });

TEST(Exchange, IsAStoreAsLongAsNobodyLooksAtWhatWasThere) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const std::string source = R"(
extern "C" __global__ void exchange(unsigned* out, unsigned* old) {
  const unsigned was = atomicExch(out + threadIdx.x, 7u);
#ifdef BUG
  old[threadIdx.x] = was;
#else
  old[threadIdx.x] = atomicExch(out + threadIdx.x, 8u);
#endif
})";
  const auto run_exchange = [&](bool bug) {
    TestGpu gpu("virtual:a100", {.threads = 1});
    const BufferId out = gpu.output<std::uint32_t>("out", 32);
    const BufferId old = gpu.output<std::uint32_t>("old", 32);
    std::vector<std::string> options;
    if (bug) options.emplace_back("-DBUG");
    std::string text = text_of(gpu.run(compile_to_ptx(source, "compute_80", options), "exchange",
                                       {{1, 1, 1}, {32, 1, 1}}, {out, old}));
    if (text.empty()) {
      EXPECT_EQ(gpu.read<std::uint32_t>(out, 32), std::vector<std::uint32_t>(32, 8));
      EXPECT_EQ(gpu.read<std::uint32_t>(old, 32), std::vector<std::uint32_t>(32, 7));
    }
    return text;
  };
  EXPECT_EQ(run_exchange(false), "");
  const std::string text = run_exchange(true);
  EXPECT_TRUE(text.starts_with("uninitialised data: uninitialised data reach global memory"))
      << text;
}

}  // namespace
}  // namespace evo::test
