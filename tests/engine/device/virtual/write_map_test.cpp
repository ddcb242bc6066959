// The write map gives the CTA that writes each byte of an output. write_map() finds it without
// computing the values that CTAs write. The tests compare it with the bytes that each CTA writes
// when it runs alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

using testing::HasSubstr;

constexpr int kElements = 4096;
constexpr std::uint64_t kCtas = 24;
const LaunchConfig kConfig = {.grid = {6, 4, 1}, .block = {64, 1, 1}};

class WriteMaps : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
    static const std::string ptx =
        compile_to_ptx(kernel_source("stores.cu"), "compute_80", {"-I" EVO_CUDA_INCLUDE_DIR});
    const std::string& entry = GetParam();
    auto loaded = gpu_.device().load({.ptx = ptx, .cubin = {}, .entries = {entry}});
    ASSERT_TRUE(std::holds_alternative<KernelId>(loaded)) << std::get<Fault>(loaded).reason;
    kernel_ = std::get<KernelId>(loaded);
    std::vector<int> in;
    for (int i = 0; i < kElements; ++i) in.push_back(kElements - 1 - i);
    out_ = gpu_.output<float>("out", kElements);
    arguments_ = {gpu_.input("in", in), out_, ScalarArgument::of(kElements)};
  }

  std::variant<WriteMap, std::string> map() {
    return gpu_.device().interpreting()->write_map(kernel_, plan_, arguments_, std::vector{out_});
  }

  /// For each byte of the output: 1 + the index of the CTA that writes the byte, found by running
  /// each CTA alone.
  std::vector<std::uint32_t> by_running() {
    std::vector<std::uint32_t> owners(kElements * sizeof(float));
    Interpreting& sampler = *gpu_.device().interpreting();
    for (std::uint64_t cta = 0; cta < kCtas; ++cta) {
      gpu_.device().memory().poison(out_, std::vector(4, std::byte{0xff}));
      sampler.set_cta_sample({cta});
      EXPECT_EQ(text_of(gpu_.device().launch(kernel_, plan_, arguments_)), "");
      sampler.set_cta_sample({});
      const std::vector<bool> written = sampler.written(out_);
      for (std::size_t i = 0; i < owners.size(); ++i) {
        if (written[i]) owners[i] = static_cast<std::uint32_t>(cta + 1);
      }
    }
    return owners;
  }

  TestGpu gpu_{"virtual:a100"};
  KernelId kernel_ = 0;
  BufferId out_ = 0;
  std::vector<KernelArgument> arguments_;
  LaunchPlan plan_ = kConfig;
};

class Traced : public WriteMaps {};

TEST_P(Traced, AreWhatEachCtaWritesWhenItRunsAlone) {
  const auto found = map();
  ASSERT_TRUE(std::holds_alternative<WriteMap>(found)) << std::get<std::string>(found);
  const auto& [granule, owners] = std::get<WriteMap>(found);
  ASSERT_EQ(owners.size(), 1U);
  const std::vector<std::uint32_t> expected = by_running();
  std::size_t written = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(owners.front().at(i / granule), expected[i]) << "byte " << i;
    written += expected[i] != 0 ? 1 : 0;
  }
  EXPECT_GT(written, 100U);
}

TEST_P(Traced, LeaveWhatTheOutputsHold) {
  const std::vector<float> threes(kElements, 3.0F);
  gpu_.device().memory().upload(out_, std::as_bytes(std::span(threes)));
  ASSERT_TRUE(std::holds_alternative<WriteMap>(map()));
  EXPECT_EQ(gpu_.read<float>(out_, kElements), threes);
}

INSTANTIATE_TEST_SUITE_P(
    All, Traced,
    testing::Values("plain", "strided", "long_loop_for_the_value", "guarded",
                    "every_seventh_is_idle", "by_shuffled_warp", "wide", "bytes", "two_branches",
                    "cases", "permuted_by_input", "decided_by_input", "local_table", "carried",
                    "by_fragments", "reductions_of_its_own", "by_a_function", "compacted_by_votes",
                    "values_by_shared_memory", "values_by_generic_addresses",
                    "every_other_to_shared_memory", "trip_count_by_input",
                    "by_a_pointer_of_a_choice", "by_a_generic_address", "predicated",
                    "left_by_a_predicate", "by_a_table_of_branches", "until_it_is_large",
                    "while_it_is_small"),
    [](const auto& test) { return test.param; });

class Untraced : public WriteMaps {};

TEST_P(Untraced, AreRefusedWithTheReason) {
  const std::map<std::string, std::string> reasons = {
      {"place_by_shared_memory", "shared memory"},
      {"place_by_output", "memory that kernels may write"},
      {"place_by_claim", "a slice of the kernel cannot compute its result"},
      {"place_by_clock", "a slice of the kernel cannot compute its result"},
      {"lost_in_remainder", "several CTAs write the same bytes"},
      {"lost_in_quotient", "several CTAs write the same bytes"},
      {"overlapping", "several CTAs write the same bytes"},
      {"reductions_together", "several CTAs write the same bytes"},
      {"elsewhere_too", "other memory than outputs"}};
  const auto found = map();
  ASSERT_TRUE(std::holds_alternative<std::string>(found));
  EXPECT_THAT(std::get<std::string>(found), HasSubstr(reasons.at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, Untraced,
                         testing::Values("place_by_shared_memory", "place_by_output",
                                         "place_by_claim", "place_by_clock", "lost_in_remainder",
                                         "lost_in_quotient", "overlapping", "reductions_together",
                                         "elsewhere_too"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace evo::test
