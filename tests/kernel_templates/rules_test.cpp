// Tests that the templates sdpa_fp8/wmma and row_softmax contain the rules of their spaces, except
// limits of a GPU: a forbidden configuration gives a compile error with a reason instead of a wrong
// kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernel_templates/shipped_space.hpp"

namespace evo {
namespace {

constexpr int kUsualPoints = 25;

const std::filesystem::path kSpaces = std::filesystem::path(EVO_SOURCE_DIR) / "search_spaces";

/// Whether a constraint follows only from the limits of a GPU. Constraints from limits of a GPU are
/// in the spaces, but not in the templates.
bool is_of_the_machine(const ConstraintText& constraint) {
  return constraint.why.find("shared memory of a CTA") != std::string::npos ||
         constraint.why.find("must fit the SM") != std::string::npos;
}

/// Draws a valid candidate and then draws one of its values anew, so that the result may be valid
/// or not.
Candidate neighbour_of_valid(const Space& space, Random& random) {
  Candidate candidate = space.sample(random);
  const std::size_t parameter = random.below(space.parameter_count());
  candidate.choice[parameter] =
      static_cast<std::uint16_t>(random.below(space.value_count(parameter)));
  return candidate;
}

TEST(SdpaRules, ViolatedConstraintOfTheTemplateIsACompilerErrorThatSaysWhy) {
  const ShippedSpace shipped(kSpaces / "sdpa_fp8_wmma_h200.json");
  Random random(3);
  int refused = 0;
  for (int i = 0; refused < candidates_per_space(kUsualPoints); ++i) {
    ASSERT_LT(i, 100000);
    const Candidate candidate = neighbour_of_valid(shipped.space(), random);
    const ConstraintText* violated = shipped.space().violated(candidate);
    if (violated == nullptr || is_of_the_machine(*violated)) continue;
    ++refused;
    const std::string failure = failure_of(shipped.compile(candidate, shipped.timed_shape()));
    EXPECT_THAT(failure, testing::HasSubstr("#error"))
        << violated->expression << " " << shipped.space().config_json(candidate);
  }
}

TEST(SdpaRules, EveryConstraintOfTheTemplateIsViolatedBySomePointOfTheTest) {
  const ShippedSpace shipped(kSpaces / "sdpa_fp8_wmma_h200.json");
  Random random(3);
  std::map<std::string, int> violations;
  for (int i = 0; i < 20000; ++i) {
    const Candidate candidate = neighbour_of_valid(shipped.space(), random);
    if (const auto* violated = shipped.space().violated(candidate)) {
      ++violations[violated->expression];
    }
  }
  for (const ConstraintText& constraint : shipped.space().definition().constraints) {
    EXPECT_GT(violations[constraint.expression], 0) << constraint.expression;
  }
}

TEST(SdpaRules, MissingMacroIsNamedAsSuch) {
  const ShippedSpace shipped(kSpaces / "sdpa_fp8_wmma_h200.json");
  CompileRequest request = shipped.request(shipped.space().defaults(), shipped.timed_shape());
  std::erase_if(request.options, [](const std::string& o) { return o.starts_with("-DSTAGES="); });
  EXPECT_THAT(failure_of(outcome_of(nvrtc().compile(request))),
              testing::HasSubstr("is not defined"));
}

TEST(RowSoftmaxRules, TooManyThreadsAndIdleCachesAreRefused) {
  const ShippedSpace shipped(kSpaces / "row_softmax_h200.json");
  using Settings = std::vector<std::pair<std::string, std::string>>;
  for (const Settings& settings : {Settings{{"THREADS_PER_ROW", "1024"}, {"ROWS_PER_CTA", "2"}},
                                   Settings{{"THREADS_PER_ROW", "4"}, {"ROWS_PER_CTA", "1"}},
                                   Settings{{"METHOD", "online"}, {"CACHE_VECTORS", "4"}},
                                   Settings{{"METHOD", "cached"}, {"CACHE_VECTORS", "0"}}}) {
    const Candidate candidate =
        shipped.space().candidate_from_settings(settings, shipped.space().defaults());
    ASSERT_FALSE(shipped.space().is_valid(candidate));
    EXPECT_THAT(failure_of(shipped.compile(candidate, shipped.timed_shape())),
                testing::HasSubstr("#error"));
  }
}

}  // namespace
}  // namespace evo
