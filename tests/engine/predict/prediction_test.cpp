// Predicted times from machine code, end to end: NVRTC, the virtual GPU, the simulation of an SM.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/cubin/machine_code.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/predict/operation.hpp"
#include "engine/predict/warp_path.hpp"

namespace evo::test {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void k(float* x, int trips) {
  __shared__ float tile[32 * 33];
  float value = x[threadIdx.x];
  for (int i = 0; i < trips; ++i) {
#if KIND == 0
    value = value * 1.5f + 0.25f;
#elif KIND == 1
    tile[threadIdx.x % 32 * STRIDE + threadIdx.x / 32] = value;
    __syncthreads();
    value += tile[threadIdx.x % 32 * STRIDE + (threadIdx.x / 32 + 1) % 4];
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

/// Microseconds of a launch of 264 CTAs of 128 threads, and what the device knows of it.
double predict(const Compiled& compiled, int trips, LaunchProfile* profile = nullptr) {
  const auto device = open_virtual_device("virtual:h200", {.threads = 1});
  const auto kernel = std::get<KernelId>(device->load({compiled.ptx, compiled.cubin, {"k"}}));
  const BufferId x = device->allocate({"x", 1 << 20, true});
  device->upload(x, std::vector<std::byte>(1 << 20, std::byte{0}));
  LaunchConfig config;
  config.grid = {264, 1, 1};
  config.block = {128, 1, 1};
  const std::vector<KernelArgument> arguments = {x, ScalarArgument::of(trips)};
  const auto us = device->predict_us(kernel, LaunchPlan(config), arguments);
  if (profile != nullptr) *profile = device->profiles().at(0);
  return std::get<double>(us);
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
  for (const char* kind : {"-DKIND=0", "-DKIND=2"}) {
    const Compiled compiled = compile({kind});
    const double few = predict(compiled, 400);
    const double many = predict(compiled, 800);
    const double most = predict(compiled, 1600);
    EXPECT_GT(many, few) << kind;
    EXPECT_NEAR((most - many) / (many - few), 2, 0.3) << kind;
  }
}

TEST(PredictedTime, AWarpGoesTheWayThatTheVirtualGpuSaw) {
  const Compiled compiled = compile({"-DKIND=0"});
  LaunchProfile profile;
  (void)predict(compiled, 96, &profile);
  const auto code = read_machine_code(profile.cubin, "k");
  const CodeGraph graph(code, true);
  const auto plans = plans_of_warps(code, graph, profile);
  ASSERT_EQ(plans.size(), 4U);
  std::vector<float> before;
  WarpCursor cursor(graph, plans[0], before);
  std::size_t multiplied = 0;
  for (; !cursor.is_done(); cursor.advance())
    multiplied += unit_of(code[cursor.instruction()]) == Unit::kFma ? 1 : 0;
  EXPECT_EQ(multiplied, 96U);
}

TEST(PredictedTime, LanesMayLeaveALoopEarlyAndWarpsTheKernel) {
  for (const char* stride : {"-DSTRIDE=32", "-DSTRIDE=64", "-DSTRIDE=128", "-DSTRIDE=300"}) {
    const double us = predict(compile({"-DKIND=3", stride}), 1);
    EXPECT_GT(us, 2) << stride;
    EXPECT_LT(us, 60) << stride;
  }
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
