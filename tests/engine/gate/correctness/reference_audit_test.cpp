// Tests that references are refused if they fail or write to wrong places, or if their results
// cannot distinguish right kernels from wrong kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/core/error.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo::reference_audit_test {
namespace {

using fake::Launch;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kX = 0;
constexpr int kY = 1;
constexpr int kN = 3;

/// Checks a kernel with itself as the reference. Returns the error, or "accepted".
std::string audit(const fake::Kernel& reference, bool degenerate = false) {
  GateFixture fixture;
  fixture.problem.arguments[kY].degenerate = degenerate;
  fixture.kernels["reference"] = reference;
  const auto loaded = fixture.device->load({fake::to_ptx({"reference", {}}), "", {"reference"}});
  fixture.made =
      std::make_unique<MadeGates>(*fixture.work, fixture.problem, std::get<KernelId>(loaded), 1);
  const CorrectnessResult result = [&]() -> CorrectnessResult {
    try {
      return fixture.check(fixture.load("itself", reference));
    } catch (const ProblemError& error) {
      return {{}, Rejection{Gate::kBuild, error.what()}};
    }
  }();
  return result.rejection ? result.rejection->reason : "accepted";
}

/// A kernel that computes y[i] = f(x[i], i).
fake::Kernel mapped(const std::function<float(float, int)>& f) {
  return [f](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kN); ++i) {
      launch.buffer<float>(kY)[i] = f(launch.buffer<float>(kX)[i], i);
    }
    return std::optional<Fault>();
  };
}

TEST(ReferenceAudit, AnHonestReferenceIsAccepted) {
  EXPECT_EQ(audit(GateFixture::honest), "accepted");
}

TEST(ReferenceAudit, RefusesConstants) {
  EXPECT_THAT(audit(mapped([](float, int) { return 3.0F; })),
              AllOf(HasSubstr("problem.json: arguments[1] ('y')"),
                    HasSubstr("the reference gives 3 for all 33 elements on shape 'small'"),
                    HasSubstr("\"degenerate\": true")));
  EXPECT_EQ(audit(mapped([](float, int) { return 3.0F; }), true), "accepted");
}

TEST(ReferenceAudit, RefusesZerosOfAnUnsetTable) {
  EXPECT_THAT(audit(mapped([](float x, int) { return 0.0F * (x > 0 ? 1.0F : 2.0F); })),
              HasSubstr("the reference gives 0 for all"));
}

TEST(ReferenceAudit, RefusesWhatIsNowhereFinite) {
  EXPECT_THAT(audit(mapped([](float, int i) {
                const std::uint32_t bits = 0x7fc00000U + static_cast<std::uint32_t>(i);
                float nan = 0;
                std::memcpy(&nan, &bits, sizeof nan);
                return nan;
              })),
              HasSubstr("the reference output has no finite number"));
}

TEST(ReferenceAudit, RefusesAReferenceThatDoesNotDependOnItsInputs) {
  EXPECT_THAT(audit(mapped([](float, int i) { return static_cast<float>(i); })),
              HasSubstr("the reference output is the same for all inputs"));
  EXPECT_EQ(audit(mapped([](float, int i) { return static_cast<float>(i); }), true), "accepted");
}

TEST(ReferenceAudit, RefusesAReferenceThatDoesNotWrite) {
  EXPECT_THAT(audit([](const Launch&) { return std::optional<Fault>(); }),
              AllOf(HasSubstr("reference: on shape 'small' it does not write y[0]"),
                    HasSubstr("such as a border, write \"inout\" and a generator")));
  // A reference that writes nothing is refused, even if its output is declared degenerate.
  EXPECT_THAT(audit([](const Launch&) { return std::optional<Fault>(); }, true),
              HasSubstr("it does not write y[0]"));
  EXPECT_THAT(audit([](const Launch& launch) {
                for (int i = 0; i < launch.scalar<int>(kN); ++i) {
                  if (i != 17) launch.buffer<float>(kY)[i] = launch.buffer<float>(kX)[i];
                }
                return std::optional<Fault>();
              }),
              HasSubstr("it does not write y[17]"));
}

/// Returns how often the reference runs for one case. In its first run, the reference does not
/// write the element `wrong_element`; -1: it writes all elements.
int runs_for_one_case(int wrong_element) {
  GateFixture fixture;
  int launches = 0;
  fixture.kernels["reference"] = [&](const Launch& launch) {
    const bool is_first = launches++ == 0;
    float* kept = launch.buffer<float>(kY) + std::max(wrong_element, 0);
    const float before = *kept;
    auto fault = GateFixture::honest(launch);
    if (is_first && wrong_element >= 0) *kept = before;
    return fault;
  };
  const auto loaded = fixture.device->load({fake::to_ptx({"reference", {}}), "", {"reference"}});
  fixture.made =
      std::make_unique<MadeGates>(*fixture.work, fixture.problem, std::get<KernelId>(loaded), 1);
  (void)fixture.made->cases.get(fixture.problem.shape("small"), 0);
  return launches;
}

TEST(ReferenceAudit, RunsAgainOnlyWhereAnElementHoldsThePoison) {
  EXPECT_EQ(runs_for_one_case(-1), 1);
  EXPECT_EQ(runs_for_one_case(3), 2) << "an element may equal the poison by accident";
}

TEST(ReferenceAudit, RefusesAReferenceThatWritesElsewhere) {
  EXPECT_THAT(audit([](const Launch& launch) {
                launch.buffer<float>(kY)[launch.scalar<int>(kN)] = 1;
                return GateFixture::honest(launch);
              }),
              HasSubstr("the kernel wrote outside buffer 'y'"));
  EXPECT_THAT(audit([](const Launch& launch) {
                const auto fault = GateFixture::honest(launch);
                launch.buffer<float>(kX)[2] = 1;
                return fault;
              }),
              HasSubstr("the kernel changed its input 'x'"));
}

TEST(ReferenceAudit, RefusesAReferenceThatFails) {
  EXPECT_THAT(audit([](const Launch&) {
                return std::optional<Fault>(Fault{"illegal", "", false});
              }),
              HasSubstr("reference: on shape 'small' the kernel fails: illegal"));
}

TEST(ReferenceAudit, RefusesOutputsWithoutElements) {
  GateFixture fixture;
  fixture.problem.arguments[kY].size = Expression("N - N");
  const LoadedKernel nothing =
      fixture.load("nothing", [](const Launch&) { return std::optional<Fault>(); });
  fixture.made = std::make_unique<MadeGates>(*fixture.work, fixture.problem, nothing.id, 1);
  try {
    (void)fixture.check(nothing);
    ADD_FAILURE() << "an output without elements was accepted";
  } catch (const ProblemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("on shape 'small' no output has an element"));
  }
}

TEST(ReferenceAudit, AnOutputThatIsAlwaysEmptySaysNothing) {
  // The audit accepts an output without elements; the Cases reject a shape if none of its outputs
  // has an element, unless the problem has a check program.
  GateFixture fixture;
  ReferenceAudit audit(fixture.problem);
  audit.take(fixture.problem.shape("small"), 1, kY, {}, {});
  EXPECT_NO_THROW(audit.require_meaningful());
}

TEST(ReferenceAudit, OneValueInAllSmallShapesTogetherIsAConstantToo) {
  GateFixture fixture;
  ReferenceAudit audit(fixture.problem);
  const std::vector<std::byte> element(4, std::byte{1});
  const std::vector<std::byte> other(4, std::byte{2});
  audit.take(fixture.problem.shape("small"), 1, kY, element, {});
  audit.take(fixture.problem.shape("timed"), 2, kY, element, {});
  EXPECT_THROW(audit.require_meaningful(), ProblemError);
  audit.take(fixture.problem.shape("timed"), 3, kY, other, {});
  EXPECT_NO_THROW(audit.require_meaningful());
}

TEST(ReferenceAudit, RefusesAnArgumentThatStaysAsItWas) {
  GateFixture fixture;
  ReferenceAudit audit(fixture.problem);
  std::vector<std::byte> bytes(4 * 40);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i % 60);
  EXPECT_THROW(audit.take(fixture.problem.shape("small"), 1, kY, bytes, bytes), ProblemError);
}

}  // namespace
}  // namespace evo::reference_audit_test
