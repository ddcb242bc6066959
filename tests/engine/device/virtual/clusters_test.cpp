#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <numeric>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr std::size_t kMost = 1024;

bool has_headers() {
  return has_nvrtc() &&
         std::filesystem::exists(std::string(EVO_CUDA_INCLUDE_DIR) + "/cooperative_groups.h");
}

const std::string& compiled_clusters(const std::string& file, const std::string& bug) {
  static std::map<std::string, std::string> known;
  const auto [entry, is_new] = known.try_emplace(file + bug);
  if (is_new) {
    const std::string include = EVO_CUDA_INCLUDE_DIR;
    std::vector<std::string> options = {"-I" + include, "-I" + include + "/cccl"};
    if (!bug.empty()) options.push_back("-D" + bug);
    entry->second = compile_to_ptx(kernel_source(file), "compute_90", options);
  }
  return entry->second;
}

std::vector<int> values() {
  std::vector<int> in(kMost);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7919 % 1009);
  return in;
}

struct ClusterLaunch {
  const char* file;
  const char* entry;
  std::array<std::uint32_t, 3> grid = {4, 1, 1};
  std::uint32_t block = 32;
  std::string bug = {};
  std::uint64_t seed = 1;
};

/// Runs a kernel three times on one device, so that schedules differ. Returns the first fault; if
/// there is none, `result` gets the output of the last run.
std::optional<Fault> run_cluster(const ClusterLaunch& launch, std::vector<int>* result = nullptr) {
  TestGpu gpu("virtual:h200", {.threads = 2, .seed = launch.seed, .stall_budget = 2'000'000});
  const BufferId in = gpu.input("in", values());
  const std::string& ptx = compiled_clusters(launch.file, launch.bug);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const BufferId out = gpu.inout("out", std::vector<int>(kMost, 0));
    auto fault =
        gpu.run(ptx, launch.entry, {.grid = launch.grid, .block = {launch.block, 1, 1}}, {out, in});
    if (fault) return fault;
    if (result != nullptr) *result = gpu.read<int>(out, kMost);
  }
  return std::nullopt;
}

class Clusters : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_headers()) GTEST_SKIP() << "NVRTC or the header cooperative_groups.h is missing";
  }
  /// Compares the results of a kernel with `expected`, for several schedules.
  static void expect_results(ClusterLaunch launch, const std::vector<int>& expected) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      launch.seed = seed;
      std::vector<int> out;
      ASSERT_EQ(text_of(run_cluster(launch, &out)), "");
      out.resize(expected.size());
      EXPECT_EQ(out, expected);
    }
  }
};

TEST_F(Clusters, HistogramOverDistributedSharedMemory) {
  const auto in = values();
  std::vector<int> bins(64);
  for (std::size_t i = 0; i < 8 * 32; ++i) ++bins[static_cast<std::size_t>(in[i] % 64)];
  expect_results({"clusters.cu", "histogram", {8, 1, 1}}, bins);
}

TEST_F(Clusters, ReductionOfClustersInTwoDimensions) {
  const auto in = values();
  std::vector<int> expected(4 * 8);
  for (std::size_t y = 0; y < 4; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      const auto* first = in.data() + (x + 4 * y) * 32;
      const std::size_t cluster = x / 2 + y / 2 * 2;
      const std::size_t rank = x % 2 + y % 2 * 2;
      expected[cluster * 8 + rank] = std::accumulate(first, first + 32, 0);
      expected[cluster * 8 + 4 + rank] = 4;  // size + 10 * owner; the size is 4, the owner rank 0
    }
  }
  expect_results({"clusters.cu", "reduction", {4, 4, 1}}, expected);
}

TEST_F(Clusters, CtaReadsItsNeighboursMemory) {
  const auto in = values();
  std::vector<int> expected(4 * 32);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = in[(i / 32 ^ 1) * 32 + 31 - i % 32];
  expect_results({"clusters.cu", "neighbour"}, expected);
}

TEST_F(Clusters, MulticastLoadsATileIntoEveryCta) {
  const auto in = values();
  std::vector<int> expected(8 * 64);
  for (std::size_t cta = 0; cta < 8; ++cta) {
    const int* tile = in.data() + cta / 4 * 4 * 16;
    for (std::size_t i = 0; i < 32; ++i) expected[cta * 64 + i] = tile[i] + tile[i + 32];
  }
  expect_results({"cluster_copies.cu", "multicast", {8, 1, 1}}, expected);
}

TEST_F(Clusters, RingPassesDataWithRemoteMbarriers) {
  std::vector<int> value = values();
  value.resize(8 * 64);
  std::vector<int> sum(value.size());
  for (int round = 0; round < 6; ++round) {
    const std::vector<int> before = value;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::size_t cta = i / 64;
      const int got = before[(cta / 4 * 4 + (cta + 3) % 4) * 64 + i % 64];
      sum[i] = sum[i] * 3 + got;
      value[i] = got + 1;
    }
  }
  expect_results({"cluster_copies.cu", "ring", {8, 1, 1}, 64}, sum);
}

TEST_F(Clusters, AsyncStoresSignalTheMbarrierOfTheOtherCta) {
  const auto in = values();
  std::vector<int> expected(4 * 32);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto box = [&](std::size_t at) {
      return in[(i / 32 ^ 1) * 32 + at / 2] * static_cast<int>(1 + at % 2);
    };
    expected[i] = box(i % 32) + box(63 - i % 32);
  }
  expect_results({"cluster_copies.cu", "async_stores"}, expected);
}

TEST_F(Clusters, ReleaseAndAcquireOfClusterScopeOrderAccesses) {
  const auto in = values();
  std::vector<int> expected(in.begin(), in.begin() + 32);
  expected.insert(expected.end(), in.begin() + 64, in.begin() + 96);
  expect_results({"cluster_copies.cu", "flag"}, expected);
}

TEST_F(Clusters, LockInDistributedSharedMemory) {
  const auto in = values();
  expect_results({"cluster_copies.cu", "lock", {8, 1, 1}}, {15 * in[0], 15 * in[1]});
}

TEST_F(Clusters, MulticastOfBoxesOfATensorMap) {
  TestGpu gpu("virtual:h200");
  const BufferId in = gpu.input("in", values());
  const BufferId out = gpu.inout("out", std::vector<int>(256, 0));
  const TensorMapSpec spec{"map", TensorMapType::kS32, {16, 8}, {64}, {16, 4}, {1, 1}, 0};
  const std::string& ptx = compiled_clusters("cluster_copies.cu", "");
  auto loaded = gpu.device().load({.ptx = ptx, .cubin = {}, .entries = {"multicast_tensor"}});
  ASSERT_TRUE(std::holds_alternative<KernelId>(loaded));
  LaunchPlan plan(LaunchConfig{.grid = {1, 2, 1}, .block = {32, 1, 1}});
  plan.steps.front().arguments = {0, 1};
  const std::vector<KernelArgument> arguments = {out, TensorMapArgument{spec, 2}, in};
  ASSERT_EQ(text_of(gpu.device().launch(std::get<KernelId>(loaded), plan, arguments)), "");
  std::vector<int> expected = values();
  expected.resize(128);
  expected.insert(expected.end(), expected.begin(), expected.begin() + 128);
  EXPECT_EQ(gpu.read<int>(out, 256), expected);
}

TEST_F(Clusters, PredictionSaysThatItTimesIndependentCtas) {
  TestGpu gpu("virtual:h200");
  const BufferId in = gpu.input("in", std::vector<int>(64 * 32, 1));
  const BufferId out = gpu.inout("out", std::vector<int>(64 * 32, 0));
  const std::string& ptx = compiled_clusters("clusters.cu", "");
  auto loaded = gpu.device().load({.ptx = ptx, .cubin = {}, .entries = {"neighbour"}});
  const std::vector<KernelArgument> arguments = {out, in};
  const auto predicted = gpu.device().predicting()->predict_us(
      std::get<KernelId>(loaded), LaunchConfig{.grid = {64, 1, 1}, .block = {32, 1, 1}}, arguments);
  ASSERT_TRUE(std::holds_alternative<double>(predicted)) << std::get<Fault>(predicted).reason;
  EXPECT_GT(std::get<double>(predicted), 0);
  const std::string gaps = gpu.device().predicting()->prediction_gaps();
  EXPECT_NE(gaps.find("timed as independent CTAs"), std::string::npos) << gaps;
  EXPECT_NE(gaps.find("16 of 64"), std::string::npos) << gaps;  // CTAs, in 8 clusters
}

TEST_F(Clusters, GridMustBeAMultipleOfTheCluster) {
  const auto fault = run_cluster({"clusters.cu", "neighbour", {3, 1, 1}});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->reason,
            "launch refused: grid of 3x1x1 CTAs is not a multiple of the clusters of 2x1x1 CTAs");
}

TEST_F(Clusters, MoreThanThePortableSizeIsRefused) {
  const std::string source =
      "extern \"C\" __global__ void __cluster_dims__(16, 1, 1) wide(int* out, const int* in) {}";
  TestGpu gpu("virtual:h200");
  const BufferId out = gpu.inout("out", std::vector<int>(1, 0));
  const auto fault = gpu.run(compile_to_ptx(source, "compute_90"), "wide",
                             {.grid = {16, 1, 1}, .block = {32, 1, 1}}, {out, out});
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->reason.find("clusters of 16x1x1 CTAs (.reqnctapercluster), the limit is 8"),
            std::string::npos)
      << fault->reason;
}

struct ClusterDefect {
  const char* file;
  const char* entry;
  const char* bug;
  std::vector<std::string> found_as;  ///< the report must contain one of these texts
  const char* mentions;
  std::uint32_t block = 32;
};

const std::vector<ClusterDefect>& defects() {
  static const std::vector<ClusterDefect> all = {
      {"clusters.cu",
       "neighbour",
       "BUG_NO_BARRIER_BEFORE",
       {"shared-memory race"},
       "the accessed CTA may not have started"},
      {"clusters.cu",
       "neighbour",
       "BUG_EXITS_EARLY",
       {"exit with pending work"},
       "barrier.cluster after the access"},
      {"clusters.cu", "overwrites", "BUG", {"shared-memory race"}, "of rank 1 of the cluster"},
      {"clusters.cu", "both_write", "BUG", {"shared-memory race"}, "'both_write::sum'"},
      {"clusters.cu", "outside", "BUG", {"out-of-bounds access"}, "the cluster, which has 2 CTAs"},
      {"clusters.cu",
       "never_arrives",
       "BUG",
       {"deadlock"},
       "warp 0 in the CTA of rank 1 did not",
       64},
      {"clusters.cu", "some_exit", "BUG", {"invalid barrier use"}, "waits without", 64},
      {"clusters.cu", "polls", "BUG", {"livelock"}, "nothing changed"},
      {"clusters.cu", "through_global", "BUG", {"race between CTAs"}, "'out'"},
      {"cluster_copies.cu", "flag", "BUG", {"shared-memory race"}, "'flag::value'"},
      {"cluster_copies.cu", "lock", "BUG", {"shared-memory race"}, "'lock::sum'"},
      {"cluster_copies.cu", "multicast", "BUG_BYTES", {"deadlock"}, "waits for 16 bytes"},
      {"cluster_copies.cu", "multicast", "BUG_MASK", {"deadlock"}, "waits for 256 bytes"},
      {"cluster_copies.cu", "multicast", "BUG_WIDE_MASK", {"invalid operand"}, "the mask 0x1f"},
      {"cluster_copies.cu",
       "multicast",
       "BUG_NO_WAIT",
       {"exit with pending work", "cp.async race"},
       "'multicast::tile'"},
      {"cluster_copies.cu",
       "ring",
       "BUG_NO_START",
       {"shared-memory race"},
       "the accessed CTA may not have started",
       64},
      {"cluster_copies.cu",
       "ring",
       "BUG_NOT_FREE",
       {"cp.async race", "shared-memory race"},
       "::slot'",
       64},
      {"cluster_copies.cu", "ring", "BUG_SOURCE", {"cp.async race"}, "::mine'", 64},
      {"cluster_copies.cu", "async_stores", "BUG_BYTES", {"shared-memory race"}, "st.async"},
      {"cluster_copies.cu", "async_stores", "BUG_NO_WAIT", {"shared-memory race"}, "::box'"},
  };
  return all;
}

class ClusterDefects : public testing::TestWithParam<ClusterDefect> {
 protected:
  void SetUp() override {
    if (!has_headers()) GTEST_SKIP() << "NVRTC or the header cooperative_groups.h is missing";
  }
};

TEST_P(ClusterDefects, IsFoundWhateverTheSchedule) {
  const ClusterDefect& defect = GetParam();
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto fault =
        run_cluster({defect.file, defect.entry, {4, 1, 1}, defect.block, defect.bug, seed});
    ASSERT_TRUE(fault) << "seed " << seed;
    const bool is_found = std::ranges::any_of(defect.found_as, [&](const std::string& start) {
      return fault->detail.find(start) != std::string::npos;
    });
    EXPECT_TRUE(is_found) << fault->detail;
    EXPECT_NE(fault->detail.find(defect.mentions), std::string::npos) << fault->detail;
  }
}

TEST_P(ClusterDefects, CleanTwinHasNoReport) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    EXPECT_EQ(text_of(run_cluster(
                  {GetParam().file, GetParam().entry, {4, 1, 1}, GetParam().block, {}, seed})),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClusterDefects, testing::ValuesIn(defects()), [](const auto& test) {
  return std::string(test.param.entry) + "_" + test.param.bug;
});

}  // namespace
}  // namespace evo::test
