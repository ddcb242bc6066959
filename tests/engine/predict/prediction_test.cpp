// Tests the prediction of times as a whole: NVRTC compiles a kernel, the virtual GPU executes its
// PTX, and the simulation of an SM runs its machine code.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/cubin/machine_code.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/predict/operation.hpp"
#include "engine/predict/warp_path.hpp"
#include "tools/predict/space_on_device.hpp"

namespace evo::test {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void k(float* x, int trips) {
  __shared__ float tile[32 * 33];
  float value = x[threadIdx.x];
#if KIND == 5
  __shared__ alignas(8) unsigned long long ready;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&ready));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
  __syncthreads();
#endif
  for (int i = 0; i < trips; ++i) {
#if KIND == 0
    value = value * 1.5f + 0.25f;
#elif KIND == 1
    tile[threadIdx.x % 32 * STRIDE + threadIdx.x / 32] = value;
    __syncthreads();
    value += tile[threadIdx.x % 32 * STRIDE + (threadIdx.x / 32 + 1) % 4];
    __syncthreads();
#elif KIND == 4
    value = static_cast<float>(fma(static_cast<double>(value), 1.5, 0.25));
    double exact = value;
    for (int j = 0; j < 64; ++j) exact = fma(exact, 1.5, 0.25);
    value = static_cast<float>(exact);
#elif KIND == 5
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(barrier) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];"
                 ::"r"(to), "l"(x + i % 64 * 1024), "r"(barrier) : "memory");
  }
  asm volatile("{.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;}"
               ::"r"(barrier), "r"(i % 2) : "memory");
  value += tile[threadIdx.x];
  __syncthreads();
#elif KIND == 2
    value += x[(threadIdx.x * 8 + i * 1024) % 65536];
#endif
  }
#if KIND == 3
  for (int i = threadIdx.x; i < 1000; i += STRIDE) value += x[i];
  tile[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 128; ++i) value += tile[i];
#endif
  x[threadIdx.x + blockIdx.x * blockDim.x] = value;
}
)";

Compiled compile(std::vector<std::string> options, bool lines = true) {
  CompileRequest request;
  request.source.name = "k.cu";
  request.source.text = kSource;
  request.entries = {"k"};
  request.arch = "sm_90";
  request.options = std::move(options);
  if (lines) request.options.emplace_back("-lineinfo");
  CompileOutcome outcome = outcome_of(open_nvrtc()->compile(request));
  return std::get<Compiled>(std::move(outcome));
}

/// Predicts the time of a launch of 264 CTAs of 128 threads, in µs.
double predict(const Compiled& compiled, int trips, LaunchProfile* profile = nullptr) {
  const auto device = open_virtual_device("virtual:h200", {.threads = 1});
  const auto kernel = std::get<KernelId>(device->load({compiled.ptx, compiled.cubin, {"k"}}));
  const BufferId x = device->memory().allocate({"x", 1 << 20, true});
  device->memory().upload(x, std::vector<std::byte>(1 << 20, std::byte{0}));
  LaunchConfig config;
  config.grid = {264, 1, 1};
  config.block = {128, 1, 1};
  const std::vector<KernelArgument> arguments = {x, ScalarArgument::of(trips)};
  const auto us = device->predicting()->predict_us(kernel, LaunchPlan(config), arguments);
  if (profile != nullptr) *profile = device->predictions().at(0).profile;
  return std::get<double>(us);
}

/// The matrix operations (FLOP) on the simulated paths of a CTA's warps: the mean over `phases`
/// values of WarpCursor's parameter `phase`, on which the paths through loops and branches depend.
double walked_flops(const LaunchProfile& profile, const LineActivities& lines, bool is_sm90,
                    int phases = 32) {
  const auto code = read_machine_code(profile.cubin, profile.entry);
  const CodeGraph graph(code, is_sm90);
  double flops = 0;
  const auto plans = plans_of_warps(code, graph, lines, profile.warps_per_cta);
  for (int phase = 0; phase < phases; ++phase) {
    for (const WarpPlan& plan : plans) {
      WarpCursor cursor(graph, plan, static_cast<double>(phase) / phases);
      for (; !cursor.is_done(); cursor.advance()) flops += matrix_flops(code[cursor.instruction()]);
    }
  }
  return flops / phases;
}

/// The matrix operations (FLOP) on the simulated paths of a CTA's warps, as a mean over the CTAs of
/// the grid: the sum over the kinds of CTAs, each weighted by its share of the CTAs.
double walked_flops(const LaunchProfile& profile, bool is_sm90) {
  double flops = 0;
  for (const CtaKind& kind : profile.kinds)
    flops += kind.share * walked_flops(profile, kind.lines, is_sm90);
  return flops;
}

double executed_flops(const LaunchProfile& profile) {
  double flops = 0;
  for (const auto& [line, activity] : profile.lines) flops += activity.flops;
  return flops;
}

TEST(MachineCode, KnowsTheLinesOfThePtx) {
  const Compiled compiled = compile({"-DKIND=0"});
  const auto code = read_machine_code(compiled.cubin, "k");
  ASSERT_FALSE(code.empty());
  std::size_t known = 0;
  bool multiplies = false;
  for (const MachineInstruction& instruction : code) {
    known += instruction.ptx_line != 0 ? 1 : 0;
    multiplies = multiplies || unit_of(instruction) == Unit::kFma;
  }
  EXPECT_GT(known, code.size() / 2);
  EXPECT_TRUE(multiplies);
  EXPECT_TRUE(read_machine_code(compiled.cubin, "another").empty());
  EXPECT_TRUE(read_machine_code(compiled.cubin.substr(0, 100), "k").empty());
  for (const MachineInstruction& instruction :
       read_machine_code(compile({"-DKIND=0"}, false).cubin, "k")) {
    EXPECT_EQ(instruction.ptx_line, 0U);
  }
}

TEST(PredictedTime, GrowsWithTheTripsOfALoop) {
  for (const char* kind : {"-DKIND=0", "-DKIND=2", "-DKIND=5"}) {
    const Compiled compiled = compile({kind});
    const double few = predict(compiled, 400);
    const double many = predict(compiled, 800);
    const double most = predict(compiled, 1600);
    EXPECT_GT(many, few) << kind;
    EXPECT_NEAR((most - many) / (many - few), 2, 0.3) << kind;
  }
}

/// With KIND=5, each CTA copies 4 KiB in each iteration; an SM runs two CTAs.
TEST(PredictedTime, BulkCopiesTakeTheirLatencyAndTheirBytes) {
  const Compiled compiled = compile({"-DKIND=5"});
  const double each_us = (predict(compiled, 800) - predict(compiled, 400)) / 400;
  EXPECT_GT(each_us, 0.15);  // about the latency of L2
  EXPECT_LT(each_us, 1.5);
}

TEST(PredictedTime, AWarpGoesTheWayThatTheVirtualGpuSaw) {
  const Compiled compiled = compile({"-DKIND=0"});
  LaunchProfile profile;
  (void)predict(compiled, 96, &profile);
  const auto code = read_machine_code(profile.cubin, "k");
  const CodeGraph graph(code, true);
  const auto plans = plans_of_warps(code, graph, profile.lines, profile.warps_per_cta);
  ASSERT_EQ(plans.size(), 4U);
  WarpCursor cursor(graph, plans[0], 0);
  std::size_t multiplied = 0;
  for (; !cursor.is_done(); cursor.advance())
    multiplied += unit_of(code[cursor.instruction()]) == Unit::kFma ? 1 : 0;
  EXPECT_EQ(multiplied, 96U);
}

TEST(PredictedTime, LanesMayLeaveALoopEarlyAndWarpsTheKernel) {
  for (const char* stride : {"-DSTRIDE=32", "-DSTRIDE=64", "-DSTRIDE=128", "-DSTRIDE=300"}) {
    const double us = predict(compile({"-DKIND=3", stride}), 1);
    EXPECT_GT(us, 1) << stride;
    EXPECT_LT(us, 60) << stride;
  }
}

/// Tests that the simulated paths of all warps contain as many matrix operations as the virtual GPU
/// executed, within 2 %.
class ShippedWays : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ShippedWays, DoTheWorkThatWasExecuted) {
  const auto [file, device] = GetParam();
  SpaceOnDevice on(std::string(EVO_SOURCE_DIR) + "/search_spaces/" + file, "", device,
                   {.threads = 1});
  std::vector<Candidate> candidates = {on.space().defaults()};
  const std::vector<Milestone>& milestones = on.space().definition().milestones;
  ASSERT_FALSE(milestones.empty());
  candidates.push_back(milestones[milestones.size() / 2].candidate);
  candidates.push_back(milestones.back().candidate);
  for (const Milestone& milestone : milestones) {
    if (milestone.name == "two producer groups") candidates.push_back(milestone.candidate);
  }
  for (const Candidate& candidate : candidates) {
    const CompileOutcome outcome = on.compile(candidate);
    ASSERT_TRUE(std::holds_alternative<Compiled>(outcome));
    const auto loaded = on.load(candidate, std::get<Compiled>(outcome));
    const auto& kernel = std::get<LoadedKernel>(loaded);
    const auto workspace = on.workspace_of(kernel);
    (void)on.device().predicting()->predict_us(
        kernel.id, kernel.launch_for(on.data()),
        std::get<Workspace>(workspace).arguments_of(on.data()));
    const ptx::PredictedLaunch& predicted = on.device().predictions().at(0);
    const std::string name = on.space().config_json(candidate);
    EXPECT_TRUE(predicted.is_simulated) << name;
    const double executed = executed_flops(predicted.profile);
    EXPECT_NEAR(walked_flops(predicted.profile, std::string_view(device) == "virtual:h200"),
                executed, 0.02 * executed)
        << name;
    on.device().unload(kernel.id);
  }
}

INSTANTIATE_TEST_SUITE_P(Attention, ShippedWays,
                         testing::Values(std::pair("sdpa_fp8_mma_l4.json", "virtual:l4"),
                                         std::pair("sdpa_fp8_wgmma_e4m3_h200.json", "virtual:h200"),
                                         std::pair("sdpa_fp8_mma_h200.json", "virtual:h200"),
                                         std::pair("sdpa_fp8_wgmma_h200.json", "virtual:h200"),
                                         std::pair("sdpa_fp8_wmma_l4.json", "virtual:l4"),
                                         std::pair("sdpa_fp8_wmma_h200.json", "virtual:h200")));

/// The launch profile of a kernel on a virtual H200: the default configuration of a space, except
/// for the macros in `settings`.
LaunchProfile profile_of(const std::vector<std::pair<std::string, std::string>>& settings,
                         const char* space = "sdpa_fp8_mma_h200.json", const char* shape = "") {
  SpaceOnDevice on(std::string(EVO_SOURCE_DIR) + "/search_spaces/" + space, shape, "virtual:h200",
                   {.threads = 1});
  const Candidate candidate = on.space().candidate_from_settings(settings, on.space().defaults());
  const auto outcome = on.compile(candidate);
  const auto loaded = on.load(candidate, std::get<Compiled>(outcome));
  const auto& kernel = std::get<LoadedKernel>(loaded);
  const auto workspace = on.workspace_of(kernel);
  (void)on.device().predicting()->predict_us(
      kernel.id, kernel.launch_for(on.data()),
      std::get<Workspace>(workspace).arguments_of(on.data()));
  return on.device().predictions().at(0).profile;
}

TEST(PredictedTime, PartsThatCtasLeaveForEachOtherAreInL2) {
  const LaunchProfile whole = profile_of({{"SPLIT_KV", "1"}});
  const LaunchProfile split = profile_of({{"SPLIT_KV", "4"}});
  EXPECT_EQ(split.fresh_bytes, whole.fresh_bytes);
  EXPECT_GT(split.footprint_bytes, 2 * whole.footprint_bytes);
  EXPECT_EQ(split.rotation_bytes - whole.rotation_bytes,
            split.footprint_bytes - whole.footprint_bytes);
}

/// Each of 132 persistent CTAs processes 512 / 132 = 3.88 tiles on average. The simulation starts
/// with the slowest CTA, which processes 4 tiles. ptxas places code that waits and jumps back into
/// the loop behind the end of the kernel; the simulation must not take this code for a loop.
TEST(PredictedTime, ThePersistentCtaThatIsSimulatedFirstTakesMostTiles) {
  const LaunchProfile profile = profile_of({{"PERSISTENT_CTA", "static"},
                                            {"PRODUCER_WARPS", "2"},
                                            {"WARPS_M", "1"},
                                            {"WARPS_KV", "1"},
                                            {"TILE_N", "64"},
                                            {"STEP_N", "64"},
                                            {"PV_MODE", "f16"},
                                            {"QK_MODE", "f16"},
                                            {"Q_IN_REGS", "bytes"},
                                            {"SPLIT_KV", "1"}});
  ASSERT_EQ(profile.ctas, 132U);
  EXPECT_NEAR(walked_flops(profile, profile.lines, true, 1) / executed_flops(profile),
              4 / (512.0 / 132), 0.01);
}

/// The simulated warps must wait at mbarriers in the same order of PTX lines as on the virtual GPU,
/// although ptxas tests the condition of the loop over a CTA's tiles both before the loop and at
/// its end, and places polls of mbarriers behind the end of the kernel.
TEST(PredictedTime, PersistentWarpsWithProducersWaitWhereTheVirtualGpuSawThemWait) {
  const LaunchProfile profile = profile_of({{"GROUPS_M", "2"},
                                            {"GROUPS_KV", "1"},
                                            {"TILE_N", "128"},
                                            {"STEP_N", "128"},
                                            {"STAGES_K", "4"},
                                            {"STAGES_V", "2"},
                                            {"PRODUCER_GROUP", "1"},
                                            {"OVERLAP", "optimistic"},
                                            {"LAZY_RESCALE", "4"},
                                            {"ROW_SUM", "mma"},
                                            {"TURNS", "1"},
                                            {"PERSISTENT_CTA", "1"}},
                                           "sdpa_fp8_wgmma_e4m3_h200.json", "mission");
  EXPECT_NEAR(walked_flops(profile, true), executed_flops(profile), 0.02 * executed_flops(profile));
  auto code = read_machine_code(profile.cubin, profile.entry);
  const CodeGraph graph(code, true);
  correct_lines_of_polls(graph, code);
  const CtaKind& kind = profile.kinds.at(0);
  const auto plans = plans_of_warps(code, graph, kind.lines, profile.warps_per_cta);
  for (std::size_t w = 0; w < plans.size(); ++w) {
    std::vector<std::uint32_t> waits;  // PTX lines
    for (const SyncEvent& event : kind.syncs.at(w)) {
      if (event.awaits >= 0 && event.arrives < 0) waits.push_back(event.line);
    }
    std::vector<std::uint32_t> polls;
    for (WarpCursor cursor(graph, plans[w], 0); !cursor.is_done(); cursor.advance()) {
      const MachineInstruction& instruction = code[cursor.instruction()];
      if (unit_of(instruction) == Unit::kMbarrier &&
          std::ranges::count(waits, instruction.ptx_line))
        polls.push_back(instruction.ptx_line);
    }
    EXPECT_EQ(polls, waits) << "warp " << w;
    EXPECT_FALSE(waits.empty());
  }
}

TEST(CodeGraph, KnowsTheWaysOutOfLoops) {
  const Compiled compiled = compile({"-DKIND=0"});
  const auto code = read_machine_code(compiled.cubin, "k");
  const CodeGraph graph(code, true);
  std::size_t leaving = 0;
  for (const CodeBlock& block : graph.blocks()) {
    EXPECT_FALSE(block.next_leaves_loop && block.next < 0);
    EXPECT_FALSE(block.target_leaves_loop && block.target < 0);
    leaving += block.next_leaves_loop || block.target_leaves_loop ? 1 : 0;
  }
  EXPECT_GE(leaving, 1U);
}

TEST(PredictedTime, AResultWithoutAScoreboardTakesItsLatency) {
  const Compiled compiled = compile({"-DKIND=4", "-DSTRIDE=1"});
  constexpr int kTrips = 100;
  constexpr double kChained = 65;
  constexpr double kClocksAMicrosecond = 1980;
  const double us = (predict(compiled, 2 * kTrips) - predict(compiled, kTrips)) / kTrips;
  EXPECT_GT(us * kClocksAMicrosecond, 16 * kChained);
  EXPECT_LT(us * kClocksAMicrosecond, 16 * kChained + 100);
}

TEST(PredictedTime, BankConflictsCost) {
  const double without = predict(compile({"-DKIND=1", "-DSTRIDE=33"}), 200);
  const double with = predict(compile({"-DKIND=1", "-DSTRIDE=32"}), 200);
  EXPECT_GT(with, 1.5 * without);
}

TEST(PredictedTime, WithoutLinesItIsMadeOfCounts) {
  LaunchProfile profile;
  EXPECT_GT(predict(compile({"-DKIND=0"}, false), 100, &profile), 0);
  for (const MachineInstruction& instruction : read_machine_code(profile.cubin, "k"))
    EXPECT_EQ(instruction.ptx_line, 0U);
}

}  // namespace
}  // namespace evo::test
