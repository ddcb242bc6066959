// Tests predicted times of grids whose CTAs do different work, and of kernels that wait, with NVRTC
// and the virtual GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/device/virtual/virtual_device.hpp"

namespace evo::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr unsigned kCtas = 528;
constexpr unsigned kThreads = 128;
constexpr double kMhz = 1980;
/// The time of 20,000 dependent multiply-adds with a latency of four clocks, in µs.
constexpr double kHeavyUs = 20'000 * 4 / kMhz;

constexpr const char* kHead = R"(
extern "C" __device__ int printf(const char*, ...);
__device__ int counter;
__device__ int tickets[1024];
__device__ float heavy(float a, int trips) {
  for (int i = 0; i < trips; ++i) a = a * 1.0001f + 0.5f;
  return a;
}
extern "C" __global__ void k(const float* __restrict__ in, float* x, int n) {
  const int cta = blockIdx.x;
  const int i = cta * blockDim.x + threadIdx.x;
  float v = in[i % 1024];
)";

ptx::PredictedLaunch predict(const std::string& body, const std::vector<float>& input = {},
                             bool is_kept = false) {
  CompileRequest request;
  request.source.name = "k.cu";
  request.source.text = kHead + body + "\n  if (i < n) x[i] = v;\n}\n";
  request.entries = {"k"};
  request.arch = "sm_90";
  request.options = {"-lineinfo"};
  const CompileOutcome outcome = outcome_of(open_nvrtc()->compile(request));
  const auto& compiled = std::get<Compiled>(outcome);
  const auto device = open_virtual_device("virtual:h200", {.threads = 1});
  const auto kernel = std::get<KernelId>(device->load({compiled.ptx, compiled.cubin, {"k"}}));
  std::vector<float> values(1024, 1.0F);
  std::copy(input.begin(), input.end(), values.begin());
  const BufferId in = device->memory().allocate({"in", values.size() * sizeof(float), false});
  device->memory().upload(in, std::as_bytes(std::span(values)));
  const BufferId x =
      device->memory().allocate({"x", kCtas * kThreads * sizeof(float), true, is_kept});
  LaunchConfig config;
  config.grid = {kCtas, 1, 1};
  config.block = {kThreads, 1, 1};
  const std::vector<KernelArgument> arguments = {
      in, x, ScalarArgument::of(static_cast<int>(kCtas * kThreads))};
  const auto us = device->predicting()->predict_us(kernel, LaunchPlan(config), arguments);
  EXPECT_TRUE(std::holds_alternative<double>(us));
  return device->predictions().at(0);
}

TEST(PredictedGrid, OneHeavyCtaIsFoundWhereverItIs) {
  EXPECT_LT(predict("").us, 5);
  for (const char* cta : {"0", "37", "111", "263", "526", "527"}) {
    const auto launch = predict("if (cta == " + std::string(cta) + ") v = heavy(v, 20000);");
    EXPECT_NEAR(launch.us, kHeavyUs, 0.15 * kHeavyUs) << cta;
    EXPECT_THAT(launch.not_modelled, IsEmpty());
  }
}

TEST(PredictedGrid, FewLightCtasDoNotStandForTheHeavyOnes) {
  const double all = predict("v = heavy(v, 20000);").us;
  const double most = predict("if (cta % 66 != 0 && cta != 527) v = heavy(v, 20000);").us;
  EXPECT_NEAR(most, all, 0.1 * all);
}

TEST(PredictedGrid, ATriangleTakesAsLongAsItsWork) {
  const double mean = predict("v = heavy(v, 5280);").us;
  const double most = predict("v = heavy(v, 10560);").us;
  const double triangle = predict("v = heavy(v, cta * 20);").us;
  EXPECT_GT(triangle, mean);
  EXPECT_LT(triangle, 1.05 * most);
}

TEST(PredictedGrid, InputsDecideHowLongACtaTakes) {
  std::vector<float> input(1024, 0.0F);
  input[333] = 20'000;
  const auto launch = predict("v = heavy(v, (int)in[cta]);", input);
  EXPECT_NEAR(launch.us, kHeavyUs, 0.15 * kHeavyUs);
  EXPECT_THAT(launch.not_modelled, IsEmpty());
}

TEST(PredictedGrid, WhatIsComputedInSharedMemoryMakesATimeUncertain) {
  const auto launch = predict(
      "__shared__ int trips; if (threadIdx.x == 0) trips = (int)v + cta % 2; __syncthreads();"
      "v = heavy(v, trips * 100);");
  EXPECT_THAT(launch.not_modelled, Contains(HasSubstr("CTAs that were not executed")));
}

TEST(PredictedGrid, CtasThatWaitForFlagsOfOthersAreExecutedTogether) {
  const auto launch = predict(
      "volatile int* turn = &counter; if (threadIdx.x == 0) { while (*turn != cta) {} "
      "__threadfence(); *turn = cta + 1 == gridDim.x ? 0 : cta + 1; }");
  EXPECT_THAT(launch.not_modelled, Contains(HasSubstr("CTAs that wait for each other")));
}

/// The number of CTAs with heavy work on the SM that finishes last.
std::ptrdiff_t heavy_ones(const ptx::PredictedLaunch& launch) {
  EXPECT_EQ(launch.profile.kinds.size(), 2U);
  return std::ranges::count(launch.profile.last_sm.kinds, 1);
}

TEST(PredictedGrid, TheLastOfFourCtasMayBeOnAnySm) {
  const auto launch = predict(
      "__shared__ int last; if (threadIdx.x == 0) last = atomicAdd(&tickets[cta / 4], 1) == 3;"
      "__syncthreads(); if (last) v = heavy(v, 20000);");
  EXPECT_EQ(launch.profile.last_sm.kinds.size(), kCtas / 132);
  EXPECT_EQ(heavy_ones(launch), 1);
  EXPECT_GT(launch.us, kHeavyUs);
}

TEST(PredictedGrid, AnAtomicThatDecidesNothingLeavesTheWorkInItsPlaces) {
  const auto launch =
      predict("v += (float)atomicAdd(&tickets[cta], 1); if (cta % 132 == 5) v = heavy(v, 20000);");
  EXPECT_EQ(heavy_ones(launch), kCtas / 132);
}

TEST(PredictedLaunch, AWorkspaceIsTheSameInAllLaunchesThatAreTimed) {
  constexpr double kInput = 1024 * sizeof(float);
  constexpr double kOutput = kCtas * kThreads * sizeof(float);
  const LaunchProfile turns = predict("").profile;
  EXPECT_EQ(turns.fresh_bytes, kInput + kOutput);
  EXPECT_EQ(turns.rotation_bytes, 4 * kInput + 5 * kOutput);
  const LaunchProfile kept = predict("", {}, true).profile;
  EXPECT_EQ(kept.footprint_bytes, kInput + kOutput);
  EXPECT_EQ(kept.fresh_bytes, kInput);
  EXPECT_EQ(kept.rotation_bytes, 4 * kInput + kOutput);
}

TEST(PredictedTime, AFenceOfTheCtaDoesNotWaitForTheGpu) {
  const auto fences = [](const std::string& fence) {
    return predict("for (int j = 0; j < 1000; ++j) " + fence + ";").us;
  };
  const double gpu = fences("__threadfence()");
  EXPECT_LT(fences("__threadfence_block()"), gpu / 5);
  EXPECT_LT(fences("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\")"), gpu / 4);
}

TEST(PredictedTime, ASleepTakesItsTime) {
  const double us = predict("for (int j = 0; j < 100; ++j) __nanosleep(1000);").us;
  EXPECT_GT(us, 95);
  EXPECT_LT(us, 120);
}

TEST(PredictedTime, ACtaThatSleepsIsOfAnotherKindThanOneThatDoesNot) {
  EXPECT_GT(predict("if (cta == 300) __nanosleep(900000);").us, 850);
  const double alone = predict("if (cta == 300) for (int j = 0; j < 4; ++j) printf(\"%d\", j);").us;
  EXPECT_GT(alone, 3 * predict("").us);
}

TEST(PredictedTime, AtomicsOnOneAddressFollowEachOther) {
  const double one = predict("for (int j = 0; j < 20; ++j) atomicCAS(&counter, -1, 0);").us;
  EXPECT_GT(one, kCtas * kThreads * 20 / kMhz);
  // The compiler combines the 32 atomic additions of a warp into one.
  const double merged = predict("for (int j = 0; j < 20; ++j) atomicAdd(&counter, 1);").us;
  EXPECT_GT(merged, kCtas * kThreads / 32 * 20 / kMhz);
  EXPECT_LT(merged, one);
  const double apart = predict("for (int j = 0; j < 20; ++j) atomicCAS((int*)x + i, -1, 0);").us;
  EXPECT_LT(apart, one / 4);
}

TEST(PredictedTime, PrintfAndWaitingForAClockAreNotFree) {
  const auto prints = predict("if (i < 64) printf(\"%d\\n\", i);");
  EXPECT_GT(prints.us, 2 * predict("").us);
  EXPECT_THAT(prints.not_modelled, Contains(HasSubstr("printf")));
  const auto waits = predict("long long t = clock64(); while (clock64() - t < 200000) {}");
  EXPECT_GT(waits.us, 200'000 / kMhz / 2);
  EXPECT_THAT(waits.not_modelled, Contains(HasSubstr("clock")));
  const auto before_an_inner_loop = predict(R"(
    #pragma unroll 1
    for (int j = 0; j < 4; ++j) {
      if (clock64() < 0) counter = j;
      #pragma unroll 1
      for (int k = 0; k < i % 7; ++k) __nanosleep(10);
    })");
  EXPECT_THAT(before_an_inner_loop.not_modelled, Contains(HasSubstr("clock")));
}

}  // namespace
}  // namespace evo::test
