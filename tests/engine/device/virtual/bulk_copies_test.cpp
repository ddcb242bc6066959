#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr std::size_t kRingTile = 256;

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

class BulkCopies : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }

  std::vector<float> outputs(const char* entry, std::uint32_t ctas, std::uint32_t threads,
                             const std::vector<float>& values, std::size_t count) {
    static const std::string ptx =
        compile_to_ptx(kernel_source("bulk.cuh") + kernel_source("bulk_copies.cu"), "compute_90a");
    TestGpu gpu("virtual:h200", {.threads = 2, .seed = GetParam()});
    const BufferId in = gpu.input("in", values);
    const BufferId out = gpu.output<float>("out", count);
    const int tiles = static_cast<int>(values.size() / kRingTile);
    EXPECT_EQ(text_of(gpu.run(ptx, entry, {.grid = {ctas, 1, 1}, .block = {threads, 1, 1}},
                              {out, in, ScalarArgument::of(tiles)})),
              "");
    return gpu.read<float>(out, count);
  }
};

TEST_P(BulkCopies, FillARing) {
  const std::vector<float> values = counted(7 * kRingTile);
  const std::vector<float> out = outputs("ring", 1, 160, values, values.size());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], values[i] + 1) << i;
}

TEST_P(BulkCopies, StoreATile) {
  const std::vector<float> values = counted(5 * kRingTile);
  const std::vector<float> out = outputs("doubled", 5, 64, values, values.size());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 2 * values[i]) << i;
}

TEST_P(BulkCopies, GoInAndOutByOneThread) {
  const std::vector<float> values = counted(3 * kRingTile);
  const std::vector<float> out = outputs("through", 1, 32, values, 6 * kRingTile);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t tile = i / kRingTile % 3;
    const bool is_changed = i >= 3 * kRingTile && i % kRingTile == tile;
    ASSERT_EQ(out[i], is_changed ? 7.0F : values[i % values.size()]) << i;
  }
}

TEST_P(BulkCopies, AreCountedByHandToo) {
  const std::vector<float> out =
      outputs("counted_by_hand", 1, 96, std::vector<float>(kRingTile, 2.5F), 96);
  EXPECT_EQ(out, std::vector<float>(96, 2.5F));
}

INSTANTIATE_TEST_SUITE_P(Seeds, BulkCopies, testing::Values(1, 2, 3));

}  // namespace
}  // namespace evo::test
