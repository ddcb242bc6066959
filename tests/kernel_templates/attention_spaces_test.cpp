// Tests the spaces of the attention templates mma and wgmma: valid candidates compile, and the
// formulas for shared memory, threads and shapes are right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"
#include "tests/kernel_templates/placed_file.hpp"

namespace evo {
namespace {

const std::filesystem::path kRoot = EVO_SOURCE_DIR;

class AttentionSpaces : public testing::TestWithParam<const char*> {
 protected:
  /// Compiles a candidate for `shape`. A static_assert compares the dynamic shared memory and the
  /// number of threads of the template with those of the problem file.
  CompileOutcome compile(const Candidate& candidate, const Shape& shape) {
    const Values macros = problem_.macros_for(shape);
    const Values values = space_.values(candidate);
    const Values all = merged({&shape.variables, &macros, &values, &device_});
    const LaunchConfig launch = kernel_.steps.front().launch.evaluate(all);
    CompileRequest request{load_source(kernel_.source, kRoot / "kernel_templates"),
                           kernel_.entries(),
                           space_.definition().arch,
                           {}};
    request.source.text +=
        "\nstatic_assert(kSharedBytes == " + std::to_string(launch.dynamic_shared_bytes) +
        ");\nstatic_assert(" + "kThreads == " + std::to_string(launch.block[0]) + ");\n";
    for (const auto& [name, value] : space_.macros(candidate)) {
      request.options.push_back("-D" + name + "=" + value);
    }
    for (const auto& [name, value] : macros) {
      request.options.push_back("-D" + name + "=" + std::to_string(static_cast<int>(value)));
    }
    return outcome_of(compiler_->compile(request));
  }

  /// The reason why a candidate did not compile; empty if it compiled.
  std::string failure(const Candidate& candidate, const std::string& shape) {
    const CompileOutcome outcome = compile(candidate, problem_.shape(shape));
    const auto* rejection = std::get_if<Rejection>(&outcome);
    return rejection == nullptr ? "" : rejection->reason + "\n" + rejection->detail;
  }

  static std::filesystem::path file() {
    return kRoot / "search_spaces" / (std::string(GetParam()) + ".json");
  }

  std::unique_ptr<Compiler> compiler_ = open_nvrtc();
  Values device_ = {{"SM_COUNT", 132}};
  Problem problem_ = Problem::load(kRoot / "kernel_templates/sdpa_fp8");
  Space space_{placed_file(file(), kRoot / "kernel_templates", "mission")};
  const KernelSpec& kernel_ = problem_.kernel(space_.definition().template_name);
};

TEST_P(AttentionSpaces, SampledCandidatesCompileForEveryVariant) {
  Random random(20);
  for (const char* shape : {"mission", "causal_mission", "mission_d128", "causal_mission_d128"}) {
    const Space space(placed_file(file(), kRoot / "kernel_templates", shape));
    const Candidate candidate = space.sample(random);
    EXPECT_EQ(failure(candidate, shape), "") << shape << space.config_json(candidate);
  }
}

TEST_P(AttentionSpaces, HaveThousandsOfCandidates) { EXPECT_GE(space_.count().value, 5000); }

TEST_P(AttentionSpaces, CheckEveryVariantOfTheTimedShapesMacros) {
  const auto names = [&](const char* timed) {
    std::vector<std::string> found;
    for (const Shape* shape : problem_.checked_shapes({&problem_.shape(timed)}, kernel_)) {
      found.push_back(shape->name);
    }
    return found;
  };
  EXPECT_THAT(names("mission"),
              testing::IsSupersetOf({"ragged1", "ragged31", "ragged500", "grouped", "decode"}));
  EXPECT_THAT(names("causal_mission"),
              testing::IsSupersetOf({"causal_ragged", "causal_wide", "causal_tall"}));
  EXPECT_THROW((void)problem_.checked_shapes({&problem_.shape("grouped")}, problem_.kernel("wmma")),
               InputError);
}

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Changes of the default configuration, each of which violates one rule of the space.
std::vector<Settings> forbidden_settings(const std::string& template_name) {
  if (template_name == "wgmma") {
    return {{{"STAGES_V", "2"}},
            {{"PRODUCER_GROUP", "1"}},
            {{"STEP_N", "64"}},
            {{"EXP", "linear"}},
            {{"STEP_N", "256"}},
            {{"GROUPS_M", "4"}},
            {{"GROUPS_M", "3"}, {"GROUPS_KV", "1"}, {"TILE_N", "128"}},
            {{"STAGES_K", "2"}, {"STAGES_V", "2"}, {"OVERLAP", "maxima"}, {"TILE_N", "32"}},
            {{"PRODUCER_GROUP", "1"}, {"STAGES_K", "2"}, {"OVERLAP", "maxima"}}};
  }
  return {{{"STAGES_K", "1"}},
          {{"PV_MODE", "fp8"}, {"EXP", "linear"}},
          {{"PV_MODE", "fp8"}, {"STEP_N", "16"}},
          {{"PIPELINE", "1"}},
          {{"SPLIT_KV", "2"}, {"PERSISTENT_CTA", "static"}},
          {{"STAGES_V", "3"}}};
}

/// The template must contain the rules of its space, except limits of a GPU: it must not compile a
/// configuration that violates such a rule.
TEST_P(AttentionSpaces, TheTemplateRefusesWhatTheSpaceForbids) {
  for (const Settings& settings : forbidden_settings(space_.definition().template_name)) {
    const Candidate candidate = space_.candidate_from_settings(settings, space_.defaults());
    EXPECT_FALSE(space_.is_valid(candidate)) << settings[0].first;
    EXPECT_THAT(failure(candidate, "mission"), testing::HasSubstr("#error")) << settings[0].first;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionSpaces,
                         testing::Values("sdpa_fp8_mma_l4", "sdpa_fp8_mma_l4_wide",
                                         "sdpa_fp8_mma_h200", "sdpa_fp8_wgmma_h200",
                                         "sdpa_fp8_wgmma_e4m3_h200"));

}  // namespace
}  // namespace evo
