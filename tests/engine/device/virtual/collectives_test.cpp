// Every collective of CUB, and twins that use one storage twice without waiting.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

/// Whose twin touches nothing that others need.
constexpr const char* kWithoutDefect[] = {"load_direct", "load_striped"};
constexpr const char* kCollectives[] = {"reduce_raking",
                                        "reduce_commutative",
                                        "reduce_warps",
                                        "scan_raking",
                                        "scan_memoize",
                                        "scan_warps",
                                        "exchange",
                                        "exchange_scatter",
                                        "load_transposed",
                                        "load_warp_transposed",
                                        "load_timesliced",
                                        "load_direct",
                                        "load_striped",
                                        "discontinuity",
                                        "adjacent_difference",
                                        "shuffle",
                                        "merge_sort",
                                        "radix_sort",
                                        "radix_rank",
                                        "radix_rank_memoize",
                                        "radix_rank_match",
                                        "histogram_sort",
                                        "histogram_atomic",
                                        "run_length_decode",
                                        "warp_reduce_4",
                                        "warp_reduce_8",
                                        "warp_reduce_16",
                                        "warp_reduce_32",
                                        "warp_scan_4",
                                        "warp_scan_8",
                                        "warp_scan_16",
                                        "warp_scan_32",
                                        "warp_exchange_8",
                                        "warp_exchange_32",
                                        "warp_load_16",
                                        "warp_load_32",
                                        "warp_sort_8",
                                        "warp_sort_32"};

class Collectives : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string include = EVO_CUDA_INCLUDE_DIR;
    if (!has_nvrtc() || !std::filesystem::exists(include + "/cccl/cub/cub.cuh"))
      GTEST_SKIP() << "no NVRTC with CUB here";
  }
  static const std::string& ptx(bool bug) {
    const std::string include = EVO_CUDA_INCLUDE_DIR;
    const auto compile = [&](std::vector<std::string> options) {
      options.insert(options.end(), {"-I" + include, "-I" + include + "/cccl"});
      return compile_to_ptx(kernel_source("collectives.cu"), "compute_89", options);
    };
    static const std::string clean = compile({});
    static const std::string broken = compile({"-DBUG"});
    return bug ? broken : clean;
  }
  static std::string run(bool bug, std::uint64_t seed, int threads) {
    TestGpu gpu("virtual:l4", {.threads = threads, .seed = seed});
    std::vector<float> in(128);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    const BufferId x = gpu.input("in", in);
    const BufferId y = gpu.output<float>("out", 128);
    const auto fault = gpu.run(ptx(bug), GetParam(), {{1, 1, 1}, {128, 1, 1}}, {x, y});
    if (fault) return text_of(fault);
    const auto out = gpu.read<float>(y, 128);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] != 2 * in[i]) return "wrong at " + std::to_string(i);
    }
    return "";
  }
};

TEST_P(Collectives, AreRight) {
  for (const std::uint64_t seed : {1U, 2U}) EXPECT_EQ(run(false, seed, 1), "");
}

TEST_P(Collectives, ThatDoNotWaitAreReported) {
  const bool has_defect =
      std::ranges::find(kWithoutDefect, std::string(GetParam())) == std::end(kWithoutDefect);
  for (const std::uint64_t seed : {1U, 2U}) {
    const std::string text = run(true, seed, 1);
    EXPECT_EQ(text.starts_with("shared-memory race"), has_defect) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Collectives, testing::ValuesIn(kCollectives),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace evo::test
