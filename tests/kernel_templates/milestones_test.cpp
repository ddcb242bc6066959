// Tests the milestones of every space in search_spaces/: each compiles for the space's
// architecture, has the sizes of its problem file (ShippedSpace::compile_checked), respects the
// space's resource policy, and is a different kernel.

#include <gtest/gtest.h>

#include "engine/device/arch_limits.hpp"
#include "engine/gate/resource.hpp"
#include "tests/kernel_templates/shipped_space.hpp"

namespace evo {
namespace {

class Milestones : public testing::TestWithParam<std::filesystem::path> {};

/// Expects that the resource gate accepts the milestone on every shape that the correctness gate
/// checks.
void expect_within_policy(const ShippedSpace& shipped, const Milestone& milestone,
                          const Resources& resources) {
  const SpaceDefinition& definition = shipped.space().definition();
  const KernelSpec& kernel = shipped.problem().kernel(definition.template_name);
  for (const Shape* shape : shipped.problem().checked_shapes({&shipped.timed_shape()}, kernel)) {
    const LaunchConfig launch = shipped.launch(milestone.candidate, *shape);
    const std::optional<Rejection> rejection =
        resource_gate(resources, launch, definition.resources, arch_limits(definition.arch));
    EXPECT_FALSE(rejection) << shape->name << ": " << rejection->reason;
    if (resources.max_threads > 0) {
      EXPECT_LE(launch.block[0] * launch.block[1] * launch.block[2],
                static_cast<unsigned>(resources.max_threads))
          << shape->name << ": more threads than the launch bounds of the kernel allow";
    }
  }
}

TEST_P(Milestones, AreDifferentKernelsWithinTheResourcePolicy) {
  const ShippedSpace shipped(GetParam());
  const std::vector<Milestone>& milestones = shipped.space().definition().milestones;
  ASSERT_FALSE(milestones.empty());
  std::map<std::string, std::string> names;  // by PTX hash
  for (const Milestone& milestone : milestones) {
    SCOPED_TRACE(milestone.name);
    const CompileOutcome outcome =
        shipped.compile_checked(milestone.candidate, shipped.timed_shape());
    ASSERT_EQ(failure_of(outcome), "");
    const auto& compiled = std::get<Compiled>(outcome);
    expect_within_policy(shipped, milestone, compiled.resources);
    const auto [found, is_new] = names.emplace(compiled.ptx_hash, milestone.name);
    EXPECT_TRUE(is_new) << "the same kernel as " << found->second;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Milestones, testing::ValuesIn(shipped_space_files()),
                         [](const auto& tested) { return tested.param.stem().string(); });

}  // namespace
}  // namespace evo
