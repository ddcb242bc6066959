// Lanes of one .sync instruction that name different members, and twins that do not meet.
#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr const char* kDivergent = "divergent .sync instruction";
constexpr const char* kRace = "shared-memory race";
struct MaskCase {
  const char* entry;
  const char* defect;
};
constexpr MaskCase kCases[] = {{"halves_shuffle", kDivergent}, {"tiles_share", kRace},
                               {"tiles_grow", kRace},          {"tiles_overwrite", kRace},
                               {"masks_agree", kDivergent},    {"labels_reduce", kDivergent},
                               {"tiles_go_round", kDivergent}, {"half_has_exited", kDivergent}};

class MemberMasks : public testing::TestWithParam<MaskCase> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
  static const std::string& ptx(bool bug) {
    static const std::string source = kernel_source("member_masks.cu");
    static const std::string clean = compile_to_ptx(source, "compute_80");
    static const std::string broken = compile_to_ptx(source, "compute_80", {"-DBUG"});
    return bug ? broken : clean;
  }
  std::string run(bool bug, std::uint64_t seed) {
    TestGpu gpu("virtual:a100", {.threads = 1, .seed = seed});
    std::vector<float> in(64);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) - 9.5F;
    const BufferId x = gpu.input("in", in);
    const BufferId y = gpu.output<float>("out", 64);
    const auto fault = gpu.run(ptx(bug), GetParam().entry, {{1, 1, 1}, {64, 1, 1}}, {x, y});
    if (fault) return text_of(fault);
    const auto out = gpu.read<float>(y, 64);
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 2 * in[i]) << i;
    return "";
  }
};

TEST_P(MemberMasks, LanesThatNameEachOtherMeet) {
  for (const std::uint64_t seed : {1U, 2U}) EXPECT_EQ(run(false, seed), "");
}

TEST_P(MemberMasks, LanesThatDoNotMeetAreReported) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const std::string text = run(true, seed);
    EXPECT_EQ(text.find(GetParam().defect), 0U) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemberMasks, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.entry); });

}  // namespace
}  // namespace evo::test
