// Tests random valid candidates of every space in search_spaces/: each compiles, and has the
// dynamic shared memory and the threads of its problem file, if the template states its own. One
// candidate of each space also gives the same kernel if all headers are expanded in the source.

#include <gtest/gtest.h>

#include "engine/ptx/code_hash.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/kernel_templates/shipped_space.hpp"

namespace evo {
namespace {

constexpr int kUsualCandidates = 3;

class Candidates : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Candidates, CompileAndAgreeWithTheProblemFile) {
  const ShippedSpace timed(GetParam());
  const std::vector<const Shape*> shapes = timed.compiled_shapes();
  Random random(20261121);
  const int count = candidates_per_space(kUsualCandidates);
  for (int i = 0; i < count; ++i) {
    const Shape& shape = *shapes[static_cast<std::size_t>(i) % shapes.size()];
    const ShippedSpace shipped(GetParam(), shape.name);
    const Candidate candidate = shipped.space().sample(random);
    const CompileOutcome outcome = shipped.compile_checked(candidate, shape);
    EXPECT_EQ(failure_of(outcome), "")
        << shape.name << " " << shipped.space().config_json(candidate);
  }
}

TEST_P(Candidates, ExpandedSourceAloneIsTheSameKernel) {
  const ShippedSpace shipped(GetParam());
  Random random(7);
  const Candidate candidate = shipped.space().sample(random);
  const Shape& shape = shipped.timed_shape();
  const CompileOutcome expected = shipped.compile(candidate, shape);
  ASSERT_EQ(failure_of(expected), "");
  const CompileRequest request = shipped.request(candidate, shape);
  constexpr std::string_view kReal = "sm_";
  const std::string alone = test::compile_to_ptx(
      shipped.source().expanded(), "compute_" + request.arch.substr(kReal.size()), request.options);
  EXPECT_EQ(hash_ptx(alone), std::get<Compiled>(expected).ptx_hash);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Candidates, testing::ValuesIn(shipped_space_files()),
                         [](const auto& tested) { return tested.param.stem().string(); });

}  // namespace
}  // namespace evo
