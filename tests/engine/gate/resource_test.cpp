#include "engine/gate/resource.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/device/arch_limits.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const ResourcePolicy kPolicy = {
    .registers_per_thread = 120, .shared_bytes_per_cta = 65536, .spill_bytes = 0};

Resources resources(int registers, int static_shared = 0, int spills = 0) {
  Resources used;
  used.registers = registers;
  used.static_shared_bytes = static_shared;
  used.spill_load_bytes = spills;
  return used;
}

LaunchConfig launch(std::uint32_t threads, std::uint32_t dynamic_shared = 0) {
  return {{10, 1, 1}, {threads, 1, 1}, dynamic_shared};
}

std::optional<Rejection> judge(const Resources& used, const LaunchConfig& config,
                               const ResourcePolicy& policy = kPolicy) {
  return resource_gate(used, config, policy, arch_limits("sm_89"));
}

TEST(ResourceGate, PolicyMissesNameEveryLimitAndHowFarAbove) {
  EXPECT_TRUE(policy_misses(resources(120), 65536, kPolicy).empty());
  EXPECT_TRUE(policy_misses(resources(255, 0, 99), 99999, {}).empty());
  const std::vector<PolicyMiss> misses = policy_misses(resources(150, 0, 3), 98304, kPolicy);
  ASSERT_EQ(misses.size(), 3U);
  EXPECT_EQ(misses[0].text(), "registers 150 > 120");
  EXPECT_DOUBLE_EQ(misses[0].excess(), 1.25);
  EXPECT_EQ(misses[1].text(), "shared bytes 98304 > 65536");
  EXPECT_DOUBLE_EQ(misses[1].excess(), 1.5);
  EXPECT_EQ(misses[2].text(), "spill bytes 3 > 0");
  EXPECT_DOUBLE_EQ(misses[2].excess(), 4);
}

TEST(ResourceGate, ALaunchBeyondTheKernelsOwnBoundIsRejected) {
  Resources bounded = resources(64);
  bounded.max_threads = 256;
  EXPECT_FALSE(judge(bounded, launch(256)));
  EXPECT_FALSE(judge(bounded, {{1, 1, 1}, {16, 4, 4}, 0}));
  for (const LaunchConfig& config : {launch(257), LaunchConfig{{1, 1, 1}, {16, 17, 1}, 0}}) {
    const auto rejection = judge(bounded, config, {});
    ASSERT_TRUE(rejection.has_value());
    EXPECT_EQ(rejection->gate, Gate::kResource);
    EXPECT_THAT(rejection->reason, HasSubstr(" > 256 (the kernel's __launch_bounds__)"));
    EXPECT_FALSE(rejection->policy_only) << "no device could launch this kernel";
  }
  EXPECT_FALSE(judge(resources(64), launch(1024)))
      << "max_threads is 0 for a kernel without __launch_bounds__";
}

TEST(ResourceGate, AtTheLimitPassesAndOneMoreDoesNot) {
  EXPECT_FALSE(judge(resources(120), launch(128)));
  EXPECT_FALSE(judge(resources(64, 32768), launch(128, 32768)));
  for (const auto& [used, config, text] :
       {std::tuple(resources(121), launch(128), "registers 121 > 120 (policy)"),
        std::tuple(resources(64, 32768), launch(128, 32769), "shared bytes 65537 > 65536 (policy)"),
        std::tuple(resources(64, 0, 4), launch(128), "spill bytes 4 > 0 (policy)")}) {
    const auto rejection = judge(used, config);
    ASSERT_TRUE(rejection.has_value()) << text;
    EXPECT_EQ(rejection->gate, Gate::kResource);
    EXPECT_EQ(rejection->reason, text);
    EXPECT_TRUE(rejection->policy_only);
  }
}

TEST(ResourceGate, SpillsOfStoresAndLoadsAdd) {
  Resources used = resources(64);
  used.spill_load_bytes = 8;
  used.spill_store_bytes = 4;
  EXPECT_THAT(judge(used, launch(128))->reason, HasSubstr("spill bytes 12"));
}

TEST(ResourceGate, NamesEverythingThatIsOver) {
  const auto rejection = judge(resources(200, 0, 16), launch(128, 70000));
  EXPECT_THAT(rejection->reason, AllOf(HasSubstr("registers 200"), HasSubstr("shared bytes 70000"),
                                       HasSubstr("spill bytes 16")));
}

TEST(ResourceGate, WhatTheDeviceCannotRunIsNotOnlyPolicy) {
  for (const auto& [used, config, text] :
       {std::tuple(resources(32), launch(128, 99 * 1024 + 1),
                   "shared bytes 101377 > 101376 (sm_89)"),
        std::tuple(resources(32), launch(1056), "threads 1056 > 1024 (sm_89)"),
        std::tuple(resources(80), launch(1024), "registers of a CTA 81920 > 65536"),
        // The kernel violates the policy and a limit of the device; the limit of the device is
        // reported.
        std::tuple(resources(200), launch(1024), "registers of a CTA 204800 > 65536")}) {
    const auto rejection = judge(used, config);
    ASSERT_TRUE(rejection.has_value()) << text;
    EXPECT_THAT(rejection->reason, HasSubstr(text));
    EXPECT_FALSE(rejection->policy_only) << text;
  }
}

TEST(ResourceGate, RegistersAreAllocatedInEights) {
  EXPECT_FALSE(judge(resources(64), launch(1024), {}));
  EXPECT_TRUE(judge(resources(65), launch(1024), {}).has_value());
  EXPECT_FALSE(judge(resources(65), launch(896), {}));  // 65 is rounded up to 72; 72 · 896 < 65536
}

TEST(ResourceGate, ThreadsCountOverAllDimensions) {
  LaunchConfig config;
  config.block = {32, 8, 5};
  EXPECT_THAT(judge(resources(32), config)->reason, HasSubstr("threads 1280"));
}

TEST(ResourceGate, WithoutAPolicyOnlyTheDeviceLimits) {
  EXPECT_FALSE(judge(resources(255, 0, 4000), launch(128, 90000), {}));
}

TEST(ArchLimits, KnowsSharedMemoryAndRefusesOtherNames) {
  EXPECT_EQ(arch_limits("sm_89").max_shared_bytes_per_cta, 99 * 1024);
  EXPECT_EQ(arch_limits("sm_90a").max_shared_bytes_per_cta, 227 * 1024);
  EXPECT_EQ(arch_limits("sm_80").max_shared_bytes_per_cta, 163 * 1024);
  EXPECT_EQ(arch_limits("sm_75").max_shared_bytes_per_cta, 64 * 1024);
  EXPECT_EQ(arch_limits("sm_72").max_shared_bytes_per_cta, 96 * 1024);
  EXPECT_EQ(arch_limits("sm_70").max_shared_bytes_per_cta, 96 * 1024);
  EXPECT_EQ(arch_limits("sm_61").max_shared_bytes_per_cta, 48 * 1024);
  for (const char* name : {"", "sm_", "hopper", "compute_89", "sm_90ab", "sm_x"}) {
    EXPECT_THROW((void)arch_limits(name), std::exception) << name;
  }
}

TEST(CompileArch, IsTheDevicesOrItsOwnVariantWhenTheSpaceAsks) {
  EXPECT_EQ(compile_arch("sm_90", "sm_90"), "sm_90");
  EXPECT_EQ(compile_arch("sm_90", "sm_89"), "sm_90");
  EXPECT_EQ(compile_arch("sm_90", "sm_90a"), "sm_90a");
  EXPECT_EQ(compile_arch("sm_90a", "sm_90a"), "sm_90a");  // without a device
  EXPECT_EQ(compile_arch("sm_120", "sm_120a"), "sm_120a");
}

TEST(CompileArch, AVariantOfAnotherArchitectureIsRefused) {
  for (const char* device : {"sm_89", "sm_80", "sm_100", "sm_120"}) {
    try {
      (void)compile_arch(device, "sm_90a");
      ADD_FAILURE() << device;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("exactly sm_90"), HasSubstr(device)));
    }
  }
}

std::optional<Rejection> judge_steps(const std::vector<CompiledEntry>& entries,
                                     const std::vector<LaunchStep>& steps) {
  return resource_gate(entries, {"first", "last<4>"}, LaunchPlan(steps), kPolicy,
                       arch_limits("sm_89"));
}

TEST(ResourceGate, OfSeveralStepsEachIsJudgedAndNamed) {
  const std::vector<CompiledEntry> entries = {{"a", resources(100)}, {"b", resources(150, 70000)}};
  const LaunchStep first{launch(128)};
  const LaunchStep last{launch(128), 1};
  EXPECT_FALSE(judge_steps(entries, {first, first}));
  const auto policy = judge_steps(entries, {first, last});
  EXPECT_EQ(policy->reason,
            "step last<4>: registers 150 > 120 (policy), shared bytes 70000 > 65536 (policy)");
  EXPECT_TRUE(policy->policy_only);
  EXPECT_EQ(judge_steps(entries, {last})->reason,
            "registers 150 > 120 (policy), shared bytes 70000 > 65536 (policy)");
  const LaunchStep wide{launch(2048)};
  const auto device = judge_steps(entries, {last, wide});
  EXPECT_THAT(device->reason, testing::StartsWith("step first: threads 2048 > 1024"));
  EXPECT_FALSE(device->policy_only);
}

TEST(ResourceGate, TheLargestOfAllStepsCounts) {
  const std::vector<CompiledEntry> entries = {{"a", resources(130, 10000)}, {"b", resources(150)}};
  const LaunchPlan plan({{launch(32)}, {launch(32, 66000), 1}});
  EXPECT_EQ(largest_shared_bytes(entries, plan), 66000);
  const std::vector<PolicyMiss> misses = policy_misses(entries, plan, kPolicy);
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_EQ(misses[0].text(), "registers 150 > 120");
  EXPECT_EQ(misses[1].text(), "shared bytes 66000 > 65536");
}

}  // namespace
}  // namespace evo
